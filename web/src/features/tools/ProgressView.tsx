/** How far a call is, as its tool tells: a bar where the whole is known, and what it says. */
import { Progress, Text } from "@mantine/core";
import { visibleLine } from "../../ui/visible-text.ts";
import type { Progress as Far } from "./run.ts";

export function ProgressView({ progress, total = 0, message = "" }: Far) {
  const share = total > 0 ? Math.round(Math.min(Math.max(progress / total, 0), 1) * 100) : undefined;
  return (
    <div>
      {share !== undefined && <Progress value={share} aria-label="Progress" mb={4} />}
      <Text size="sm" c="dimmed">
        <bdi>
          {`${share === undefined ? progress : `${share}%`} ${visibleLine(message.slice(0, 300))}`.trim()}
        </bdi>
      </Text>
    </div>
  );
}
