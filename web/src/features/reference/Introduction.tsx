/** What the server is, how to say who calls, and what all of its errors look like. */
import { Text } from "@mantine/core";
import { Fold } from "../../ui/Fold.tsx";
import { Panel } from "../../ui/Panel.tsx";
import type { OpenApi } from "./openapi.ts";
import classes from "./Reference.module.css";
import { SchemaView } from "./SchemaView.tsx";
import { Words } from "./Words.tsx";

export function Introduction({ api }: { api: OpenApi }) {
  const { info: { version, description } = {}, components = {} } = api;
  const schemes = Object.entries(components.securitySchemes ?? {});
  const problem = components.schemas?.Problem;
  return (
    <Panel title="Before you call">
      <Text size="sm">
        <Words text={description} />
      </Text>
      <Text size="sm" mt="xs">
        Version <Words text={version} />
      </Text>
      {schemes.length > 0 && (
        <>
          <Text size="sm" mt="xs">
            A credential is one of:
          </Text>
          <ul className={classes.schemes}>
            {schemes.map(([name, scheme]) => (
              <li key={name}>
                <strong>
                  <Words text={name} />
                </strong>
                : <Words text={scheme.description} />
              </li>
            ))}
          </ul>
        </>
      )}
      {problem && <Fold title="An error's fields">{() => <SchemaView schema={problem} api={api} />}</Fold>}
    </Panel>
  );
}
