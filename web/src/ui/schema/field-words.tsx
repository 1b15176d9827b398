/** What stands around a field's input: its label, its name as the tool has it, its help, and what is wrong. */
import { LongText } from "../LongText.tsx";
import { visibleLine } from "../visible-text.ts";
import { WithCode } from "../WithCode.tsx";
import type { DraftValue } from "./draft.ts";
import { type Field, type InputKind, WHOLE } from "./fields.ts";
import { isSameName, saysMore } from "./label.ts";
import classes from "./SchemaForm.module.css";

export interface FieldProps {
  readonly field: Field;
  readonly value: DraftValue | undefined;
  readonly problem: string | undefined;
  readonly onChange: (value: DraftValue) => void;
  readonly onLeave: () => void;
}

export function wordsOf({ field, problem, onLeave }: FieldProps) {
  const { name, label, isRequired, input } = field;
  const help = saysMore(label, field.help) ? field.help : "";
  return {
    name,
    label: (
      <>
        <bdi>{visibleLine(label)}</bdi>
        {isRequired && <span className={classes.needed}> needed</span>}
      </>
    ),
    description: (
      <>
        {name !== WHOLE && !isSameName(label, name) && (
          <code className={classes.name}>{visibleLine(name)}</code>
        )}{" "}
        <LongText text={help}>{(text) => <WithCode text={text} />}</LongText> {limitsOf(input)}
      </>
    ),
    error: problem,
    onBlur: onLeave,
  };
}

export type FieldWords = ReturnType<typeof wordsOf>;

function limitsOf(input: InputKind): string {
  if (input.kind !== "number") return "";
  const { least, most } = input;
  if (least !== undefined && most !== undefined) return `(${least} to ${most})`;
  if (least !== undefined && least !== 0 && least !== 1) return `(at least ${least})`;
  return most === undefined ? "" : `(at most ${most})`;
}
