/** Texts, one a line. Enter goes on to the next one. */
import { ActionIcon, Button, Input, TextInput } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import { type KeyboardEvent, useId, useRef } from "react";
import { flushSync } from "react-dom";
import { type FieldProps, wordsOf } from "./field-words.tsx";
import classes from "./SchemaForm.module.css";

export function ListInput(props: FieldProps) {
  const { field, value, onChange, onLeave } = props;
  const { label, description, error } = wordsOf(props);
  const id = useId();
  const list = useRef<HTMLFieldSetElement>(null);
  const texts = typeof value === "object" && value.length > 0 ? value : [""];
  /** Drawn and focused at once: a key that follows quickly belongs to that line. */
  const changeAndFocus = (next: readonly string[], at: number) => {
    flushSync(() => onChange(next));
    list.current?.querySelectorAll("input")[at]?.focus();
  };
  const add = () => changeAndFocus([...texts, ""], texts.length);
  const remove = (at: number) => changeAndFocus(texts.toSpliced(at, 1), Math.max(0, at - 1));
  const goOn = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    add();
  };
  return (
    <Input.Wrapper
      label={label}
      labelElement="div"
      labelProps={{ id }}
      description={description}
      error={error}
    >
      <fieldset ref={list} className={classes.rows} aria-labelledby={id}>
        {texts.map((text, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: texts have no name of their own
          <div key={at} className={classes.row}>
            <TextInput
              aria-label={`${field.label} ${at + 1}`}
              name={field.name}
              value={text}
              error={error !== undefined}
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              classNames={{ input: classes.machine ?? "" }}
              onChange={(event) => onChange(texts.with(at, event.currentTarget.value))}
              onKeyDown={goOn}
              onBlur={onLeave}
            />
            {texts.length > 1 && (
              <ActionIcon
                variant="subtle"
                color="gray"
                size={36}
                aria-label={`Remove ${field.label} ${at + 1}`}
                onClick={() => remove(at)}
              >
                <IconX size={16} aria-hidden />
              </ActionIcon>
            )}
          </div>
        ))}
        <Button
          size="xs"
          variant="default"
          leftSection={<IconPlus size={14} aria-hidden />}
          aria-label={`Add another to ${field.label}`}
          onClick={add}
        >
          Add another
        </Button>
      </fieldset>
    </Input.Wrapper>
  );
}
