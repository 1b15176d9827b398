/** JSON Schema as people read it: a type in words, and the fields of an object. */
import { Text } from "@mantine/core";
import { visibleLine } from "../../ui/visible-text.ts";
import type { OpenApi, Schema } from "./openapi.ts";
import classes from "./Reference.module.css";
import { DEEPEST, nestedOf, whole } from "./schema.ts";
import { typeWords } from "./schema-words.ts";
import { Words } from "./Words.tsx";

interface SchemaProps {
  readonly schema: Schema;
  readonly api: OpenApi;
  readonly depth?: number;
}

/** The fields of a schema, or its type where it has none. */
export function SchemaView({ schema, api, depth = 0 }: SchemaProps) {
  const merged = whole(schema, api);
  const inner = merged.items ? whole(merged.items, api) : merged;
  const fields = Object.entries(inner.properties ?? {});
  if (depth > DEEPEST || (fields.length === 0 && !inner.oneOf))
    return (
      <Text size="sm">
        <Words text={typeWords(schema, api)} />
      </Text>
    );
  if (inner.oneOf)
    return inner.oneOf.map((one, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: choices never move
      <SchemaView key={at} schema={one} api={api} depth={depth + 1} />
    ));
  return (
    <ul className={classes.fields}>
      {fields.map(([name, field]) => (
        <FieldItem
          key={name}
          name={name}
          schema={field}
          required={inner.required?.includes(name)}
          api={api}
          depth={depth}
        />
      ))}
    </ul>
  );
}

interface FieldProps extends Partial<SchemaProps> {
  readonly name: string;
  readonly api: OpenApi;
  readonly required?: boolean | undefined;
  readonly description?: string | undefined;
  /** Where a parameter is sent. */
  readonly place?: string | undefined;
}

/** One field or parameter: name, type, whether it must be there, what it means. */
export function FieldItem({ name, schema = {}, api, required, description, place, depth = 0 }: FieldProps) {
  const meaning = description ?? whole(schema, api).description;
  const inner = depth < DEEPEST ? nestedOf(schema, api) : undefined;
  return (
    <li>
      <code className={classes.name}>
        <Words text={name} />
      </code>{" "}
      <span className={classes.type}>
        {place !== undefined && `${visibleLine(place)}, `}
        <Words text={typeWords(schema, api)} />
        {required && ", required"}
      </span>
      {meaning !== undefined && (
        <div>
          <Words text={meaning} />
        </div>
      )}
      {inner && <SchemaView schema={inner} api={api} depth={depth + 1} />}
    </li>
  );
}
