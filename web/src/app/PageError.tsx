/** A page that failed while it was drawn or loaded: the rest of the app goes on. */
import { Button, Text } from "@mantine/core";
import type { ErrorComponentProps } from "@tanstack/react-router";
import { Page } from "../ui/Page.tsx";

export function PageError({ error, reset }: ErrorComponentProps) {
  return (
    <Page title="This page could not be shown">
      <Text>{error instanceof Error ? error.message : String(error)}</Text>
      <div>
        <Button variant="default" onClick={reset}>
          Try again
        </Button>
      </div>
    </Page>
  );
}
