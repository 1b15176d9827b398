/** What a request or an answer carries, by content type: its fields, and an example. */
import { Text } from "@mantine/core";
import { visibleJson } from "../../ui/visible-text.ts";
import { CodeBlock } from "./CodeBlock.tsx";
import type { Contents, OpenApi } from "./openapi.ts";
import { SchemaView } from "./SchemaView.tsx";
import { Words } from "./Words.tsx";

interface Props {
  readonly contents: Contents;
  /** What the example is one of. */
  readonly what: string;
  readonly api: OpenApi;
}

export function BodyView({ contents, what, api }: Props) {
  return Object.entries(contents).map(([type, { schema = {}, example }]) => (
    <div key={type}>
      <Text size="sm" c="dimmed">
        <Words text={type} />
      </Text>
      <SchemaView schema={schema} api={api} />
      {example !== undefined && <CodeBlock label={`Example of ${what}`} text={visibleJson(example, 2)} />}
    </div>
  ));
}
