/** One field of a form, with an input that fits what goes in. */
import { NativeSelect, Switch, Textarea, TextInput } from "@mantine/core";
import { visibleLine } from "../visible-text.ts";
import { type FieldProps, type FieldWords, wordsOf } from "./field-words.tsx";
import type { InputKind } from "./fields.ts";
import { ListInput } from "./ListInput.tsx";
import classes from "./SchemaForm.module.css";

/** Choices that are offered, and characters of each. */
const MOST_CHOICES = 1_000;
const CHOICE_CHARS = 200;

const REQUIRED = { "aria-required": true } as const;
const MACHINE_TEXT = { autoComplete: "off", autoCapitalize: "off", spellCheck: false } as const;

export function FieldView(props: FieldProps) {
  const { field, value, onChange } = props;
  const { input, isRequired } = field;
  const words = wordsOf(props);
  const typed = { ...words, ...(isRequired && REQUIRED) };
  const text = typeof value === "string" ? value : "";
  switch (input.kind) {
    case "flag":
      return (
        <Switch
          {...words}
          checked={typeof value === "boolean" ? value : input.preset}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      );
    case "choice":
      return (
        <NativeSelect
          {...typed}
          value={text}
          data={[
            { value: "", label: unsetLabel(input.preset, isRequired) },
            ...input.choices
              .slice(0, MOST_CHOICES)
              .map(({ label }, at) => ({ value: String(at), label: shortLine(label) })),
          ]}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
    case "list":
      return <ListInput {...props} />;
    case "json":
      return <LongInput {...typed} text={text} placeholder={jsonPlaceholder(input)} onText={onChange} />;
    default:
      if (input.kind === "text" && input.isLong)
        return <LongInput {...typed} text={text} placeholder={input.preset} onText={onChange} />;
      return <LineInput {...typed} text={text} input={input} onText={onChange} />;
  }
}

interface TextProps extends FieldWords {
  readonly text: string;
  readonly onText: (text: string) => void;
}

type LineKind = Extract<InputKind, { kind: "text" | "number" | "number or text" }>;

function LineInput({ text, onText, input, ...words }: TextProps & { readonly input: LineKind }) {
  return (
    <TextInput
      {...words}
      {...MACHINE_TEXT}
      value={text}
      type={input.kind === "text" && input.isSecret ? "password" : "text"}
      inputMode={keyboardOf(input)}
      placeholder={input.preset}
      classNames={{ input: classes.machine ?? "" }}
      onChange={(event) => onText(event.currentTarget.value)}
    />
  );
}

function LongInput({ text, onText, placeholder, ...words }: TextProps & { readonly placeholder: string }) {
  return (
    <Textarea
      {...words}
      {...MACHINE_TEXT}
      value={text}
      placeholder={placeholder}
      classNames={{ input: classes.long ?? "" }}
      onChange={(event) => onText(event.currentTarget.value)}
    />
  );
}

/** Phones' number keys have no minus. */
function keyboardOf(input: LineKind): "decimal" | "numeric" | undefined {
  if (input.kind !== "number" || input.least === undefined || input.least < 0) return undefined;
  return input.isWhole ? "numeric" : "decimal";
}

function unsetLabel(preset: string, isRequired: boolean): string {
  if (isRequired) return "Choose one";
  return preset ? `Not set (${shortLine(preset)})` : "Not set";
}

function shortLine(text: string): string {
  return visibleLine(text.slice(0, CHOICE_CHARS));
}

function jsonPlaceholder({ type, preset }: Extract<InputKind, { kind: "json" }>): string {
  return preset || `JSON${type && `: ${type}`}`;
}
