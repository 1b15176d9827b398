/** A problem: what happened, what to do, and who said so. */
import "@mantine/core/styles/Alert.css";
import { Alert, Button, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { shortLine } from "./visible-text.ts";

const HOPS: Readonly<Record<string, string>> = {
  caller: "this app",
  relay: "the relay",
  device: "the machine",
  agent: "the agent on the machine",
  tool: "the tool",
};

export interface Trouble {
  readonly message: string;
  readonly hint?: string | undefined;
  readonly code?: string | undefined;
  readonly hop?: string | undefined;
}

export function Problem({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const { message, hint, code, hop } = troubleOf(error);
  return (
    <Alert
      color="red"
      variant="outline"
      icon={<IconAlertTriangle aria-hidden />}
      title={<bdi>{shortLine(message)}</bdi>}
      role="alert"
    >
      {hint && (
        <Text size="sm">
          <bdi>{shortLine(hint)}</bdi>
        </Text>
      )}
      {hop && (
        <Text size="xs" c="dimmed">
          Said by {HOPS[hop] ?? shortLine(hop)}
          {code && ` (${shortLine(code)})`}
        </Text>
      )}
      {retry && (
        <Button size="xs" mt="xs" variant="default" onClick={retry}>
          Try again
        </Button>
      )}
    </Alert>
  );
}

/** What an error tells a person. */
export function troubleOf(error: unknown): Trouble {
  if (!(error instanceof Error)) return { message: String(error) };
  const { message, hint, code, hop }: Trouble & Error = error;
  return { message, hint, code, hop };
}
