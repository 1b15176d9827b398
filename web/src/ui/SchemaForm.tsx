/** A form made from a tool's JSON Schema. What is wrong is said at its field, before anything is sent. */
import { Checkbox, NativeSelect, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { type Draft, problemOf, type SchemaField } from "./schema-fields.ts";

interface Props {
  readonly fields: readonly SchemaField[];
  readonly draft: Draft;
  readonly set: (draft: Draft) => void;
  /** Somebody tried to send it: what is missing is said too. */
  readonly isTried: boolean;
}

export function SchemaForm({ fields, draft, set, isTried }: Props) {
  if (fields.length === 0)
    return (
      <Text size="sm" c="dimmed">
        It needs no input.
      </Text>
    );
  return (
    <Stack gap="md">
      {fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          text={draft[field.name] ?? ""}
          set={(text) => set({ ...draft, [field.name]: text })}
          isTried={isTried}
        />
      ))}
    </Stack>
  );
}

interface FieldProps {
  readonly field: SchemaField;
  readonly text: string;
  readonly set: (text: string) => void;
  readonly isTried: boolean;
}

function Field({ field, text, set, isTried }: FieldProps) {
  const { label, kind, help, isRequired, schema, choices, name } = field;
  const problem = problemOf(field, text);
  const shared = {
    label,
    description: help,
    withAsterisk: isRequired,
    error: text === "" && !isTried ? undefined : problem,
    name,
  };
  const preset = schema.default === undefined ? undefined : String(schema.default);
  const typing = { ...shared, value: text, spellCheck: false, autoComplete: "off", autoCapitalize: "off" };
  if (kind === "yes or no")
    return (
      <Checkbox
        label={label}
        description={help}
        checked={text === "" ? schema.default === true : text === "true"}
        onChange={(event) => set(String(event.currentTarget.checked))}
      />
    );
  if (kind === "choice")
    return (
      <NativeSelect
        {...shared}
        value={text}
        onChange={(event) => set(event.currentTarget.value)}
        data={[
          { value: "", label: preset === undefined ? "(not set)" : `(not set: ${preset})` },
          ...choices.map((choice, at) => ({ value: String(at), label: String(choice) })),
        ]}
      />
    );
  if (kind === "long text" || kind === "json")
    return (
      <Textarea
        {...typing}
        autosize
        minRows={kind === "json" ? 2 : 1}
        maxRows={12}
        placeholder={preset ?? (kind === "json" ? "JSON" : "")}
        styles={MONOSPACE}
        onChange={(event) => set(event.currentTarget.value)}
      />
    );
  return (
    <TextInput
      {...typing}
      inputMode={kind === "number" ? "decimal" : undefined}
      placeholder={preset}
      styles={MONOSPACE}
      onChange={(event) => set(event.currentTarget.value)}
    />
  );
}

const MONOSPACE = { input: { fontFamily: "var(--mantine-font-family-monospace)" } };
