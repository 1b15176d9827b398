/** One line of text, and what is done with it. */
import { Button, Group, TextInput } from "@mantine/core";
import { useLayoutEffect, useRef, useState } from "react";
import { Problem } from "../../ui/Problem.tsx";
import { useSubmit } from "../../ui/use-submit.ts";
import { closeDialog } from "./dialog.ts";

interface Props {
  readonly label: string;
  /** What stands there at first. */
  readonly first: string;
  readonly yes: string;
  /** Throws ApiError. */
  readonly work: (text: string) => Promise<void>;
}

export function NameForm({ label, first, yes, work }: Props) {
  const [text, setText] = useState(first);
  const field = useRef<HTMLInputElement>(null);
  const { isBusy, error, submit } = useSubmit(async () => {
    await work(text);
    closeDialog();
  });
  useLayoutEffect(() => {
    // What comes after the last dot tells what a file is: it mostly stays.
    const dot = first.lastIndexOf(".");
    field.current?.setSelectionRange(0, dot > 0 && !first.includes("/") ? dot : first.length);
  }, [first]);
  return (
    <form onSubmit={submit}>
      <TextInput
        ref={field}
        data-autofocus
        autoFocus
        label={label}
        value={text}
        autoComplete="off"
        spellCheck={false}
        mb="md"
        onChange={({ currentTarget: { value } }) => setText(value)}
      />
      {error !== undefined && <Problem error={error} />}
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={closeDialog}>
          Cancel
        </Button>
        <Button type="submit" loading={isBusy} disabled={text === "" || text === first}>
          {yes}
        </Button>
      </Group>
    </form>
  );
}
