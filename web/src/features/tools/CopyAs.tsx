/** The call as other callers would make it: with curl, as a frame of a WebSocket, over MCP. */
import { Group } from "@mantine/core";
import { CopyButton } from "../../ui/CopyButton.tsx";

interface Props {
  readonly device: string;
  readonly tool: string;
  /** Undefined while something is missing or wrong. */
  readonly input: Record<string, unknown> | undefined;
}

export function CopyAs({ device, tool, input }: Props) {
  if (!input) return null;
  const body = JSON.stringify(input);
  const address = `${location.origin}/v1/devices/${device}/tools/${tool}`;
  const curl = `curl -sS -H @.matrx/authorization -H 'Content-Type: application/json' -d ${quoted(body)} ${address}`;
  const frame = JSON.stringify({ id: "1", tool, input });
  const mcp = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: tool, arguments: input },
  });
  return (
    <Group gap="xs" role="group" aria-label="Copy the call">
      <CopyButton text={curl}>curl</CopyButton>
      <CopyButton text={frame}>JSON</CopyButton>
      <CopyButton text={mcp}>MCP</CopyButton>
    </Group>
  );
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
