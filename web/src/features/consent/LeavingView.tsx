/** The answer is given. A browser may ask before it opens a program, or not find it. */
import { Button, Text } from "@mantine/core";
import type { Leaving } from "./use-answer.ts";

export function LeavingView({ isAllowed, there }: Leaving) {
  return (
    <>
      <Text>
        {isAllowed
          ? "You allowed it. It goes on by itself, and you can close this page. To end it, go to Settings, “AI and tokens”."
          : "You denied it: it gets nothing. You can close this page."}
      </Text>
      <Button variant="default" onClick={() => location.replace(there)}>
        If nothing happens, go back to the app
      </Button>
    </>
  );
}
