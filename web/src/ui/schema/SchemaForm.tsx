/** The fields of a form made from a tool's schema. Rarely used ones are folded away, unless they are set or wrong. */
import { Alert, Text } from "@mantine/core";
import { Fold } from "../Fold.tsx";
import { plural } from "../format.ts";
import { FieldView } from "./FieldView.tsx";
import type { Field } from "./fields.ts";
import classes from "./SchemaForm.module.css";
import type { FormState } from "./use-schema-form.ts";

/** Optional fields that are not folded away. */
const MOST_OPTIONAL = 8;

interface Props {
  readonly form: FormState;
  /** Names of fields that are rarely used. */
  readonly rare?: readonly string[];
}

export function SchemaForm({ form, rare = [] }: Props) {
  const { fields, draft, problems } = form;
  const needed = fields.filter(({ isRequired }) => isRequired);
  const usual = fields.filter(({ isRequired, name }) => !isRequired && !rare.includes(name));
  const shown = [...needed, ...usual.slice(0, MOST_OPTIONAL)];
  const folded = fields.filter((field) => !shown.includes(field));
  const isWrong = folded.some(({ name }) => problems.has(name));
  const general = [...problems].find(([name]) => !fields.some((field) => field.name === name));
  if (fields.length === 0) return <Text c="dimmed">It needs no input.</Text>;
  return (
    <div>
      <FieldGrid form={form} fields={shown} />
      {folded.length > 0 && (
        <Fold
          title={plural(folded.length, "more option")}
          isOpenFirst={folded.some(({ name }) => draft.has(name))}
          mustBeOpen={isWrong}
        >
          {() => <FieldGrid form={form} fields={folded} />}
        </Fold>
      )}
      {general && (
        <Alert color="red" variant="outline" role="alert" mt="sm" title="The input does not fit the tool">
          {general[0] ? `${general[0]}: ${general[1]}` : general[1]}
        </Alert>
      )}
    </div>
  );
}

function FieldGrid({ form, fields }: { form: FormState; fields: readonly Field[] }) {
  return (
    <div className={classes.grid}>
      {fields.map((field) => (
        <div
          key={field.name}
          className={classes.field}
          data-wide={isWide(field)}
          data-kind={field.input.kind}
        >
          <FieldView
            field={field}
            value={form.draft.get(field.name)}
            problem={form.problems.get(field.name)}
            onChange={(value) => form.set(field.name, value)}
            onLeave={() => form.left(field.name)}
          />
        </div>
      ))}
    </div>
  );
}

function isWide({ input, isRequired }: Field): boolean {
  if (input.kind === "text") return input.isLong || isRequired;
  return input.kind === "json" || input.kind === "list";
}
