/** Where the relay's address means this computer alone: what others need instead. Elsewhere nothing. */
import { Text } from "@mantine/core";
import { isLoopback } from "@matrx/shared/public-url.ts";

/** `who`: such as "A phone". */
export function OnlyHere({ who }: { who: string }) {
  if (!isLoopback(location.hostname)) return null;
  return (
    <Text size="sm" c="dimmed" mt={6}>
      Only this computer can reach the relay at {location.origin}. {who} needs another address, such as
      https://relay.example: put the relay behind a proxy or deploy it, and open this page there.
    </Text>
  );
}
