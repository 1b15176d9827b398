/** A form of one code or link, which signs in. The text stays in the field when it was refused. */
import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { Problem } from "../../ui/Problem.tsx";
import { useSubmit } from "../../ui/use-submit.ts";

interface Props {
  readonly label: string;
  readonly placeholder?: string;
  readonly submitLabel: string;
  readonly work: (text: string) => Promise<unknown>;
}

export function CodeForm({ label, placeholder, submitLabel, work }: Props) {
  const [text, setText] = useState("");
  const { isBusy, error, submit } = useSubmit(() => work(text));
  return (
    <form onSubmit={submit}>
      <TextInput
        label={label}
        placeholder={placeholder}
        required
        withAsterisk={false}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        mb="xs"
      />
      {error !== undefined && <Problem error={error} />}
      <Button type="submit" variant="default" fullWidth loading={isBusy} mt="xs">
        {submitLabel}
      </Button>
    </form>
  );
}
