/** The line that makes an operation's request, and where its token comes from. */
import { Group, Text } from "@mantine/core";
import { CopyButton } from "../../ui/CopyButton.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { CodeBlock } from "./CodeBlock.tsx";
import { curlLine } from "./curl.ts";
import type { Listed } from "./operations.ts";
import { Words } from "./Words.tsx";

const TOKEN =
  "The file `authorization` contains the line `Authorization: Bearer TOKEN`, so the token doesn't show up in `ps`.";

export function CurlView({ operation }: { operation: Listed }) {
  const { id, security = [] } = operation;
  const line = curlLine(operation, location.origin);
  const copyLink = (
    <CopyButton text={() => addressOf(id)} aria-label={`Copy the link to ${id}`}>
      Copy the link
    </CopyButton>
  );
  if (line === undefined) return <Group mt="xs">{copyLink}</Group>;
  const shown = visibleLine(line);
  return (
    <>
      <h4>With curl</h4>
      <CodeBlock label={`The curl line of ${id}`} text={shown} />
      {security.length > 0 && (
        <Text size="sm" c="dimmed">
          <Words text={TOKEN} />
        </Text>
      )}
      <Group gap="xs" mt="xs">
        <CopyButton text={shown} aria-label={`Copy the curl line of ${id}`} />
        {copyLink}
      </Group>
    </>
  );
}

function addressOf(id: string): string {
  return new URL(`#${encodeURIComponent(id)}`, location.href).href;
}
