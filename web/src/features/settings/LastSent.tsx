/** When a browser was last sent something, or why it was not. */
import { Text } from "@mantine/core";
import type { PushSubscriptionView } from "../../relay/push.ts";
import { ago } from "../../ui/format.ts";
import { Status } from "../../ui/Status.tsx";

export function LastSent({ subscription: { succeeded, problem } }: { subscription: PushSubscriptionView }) {
  if (problem)
    return (
      <Text size="sm">
        <Status tone="warn">{problem}</Status>
      </Text>
    );
  return (
    <Text size="sm" c="dimmed">
      {succeeded ? `Last sent ${ago(succeeded)}` : "Nothing was sent yet"}
    </Text>
  );
}
