/** A problem: what happened, what to do, and who said so. */
import { Alert, Button, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";

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
      title={message}
      role="alert"
    >
      {hint && <Text size="sm">{hint}</Text>}
      {hop && (
        <Text size="xs" c="dimmed">
          Said by {HOPS[hop] ?? hop}
          {code && ` (${code})`}
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
