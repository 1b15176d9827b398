/** The code that a machine or a command line shows: typed, or scanned where the browser can. */
import { Button, Group, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { Panel } from "../../ui/Panel.tsx";
import { codeOf } from "../sign-in/codes.ts";
import { ScanButton } from "./ScanButton.tsx";

export function CodePanel({ lookUp }: { lookUp: (code: string) => void }) {
  const [text, setText] = useState("");
  const [error, setError] = useState<string>();
  const take = (given: string) => {
    const code = codeOf(given.replace(/^.*#(?:pair=)?/, ""));
    if (code) return lookUp(code);
    setError("That is no code. It has 8 letters and digits, such as ABCD-EFGH.");
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    take(text);
  };
  return (
    <Panel title="2. Its code">
      <form onSubmit={submit}>
        <Group align="flex-end" gap="xs">
          <TextInput
            label="Code from the machine or command line"
            placeholder="ABCD-EFGH"
            autoComplete="off"
            autoCapitalize="characters"
            spellCheck={false}
            value={text}
            error={error}
            onChange={(event) => {
              setText(event.currentTarget.value);
              setError(undefined);
            }}
          />
          <Button type="submit">Look up</Button>
          <ScanButton found={take} />
        </Group>
      </form>
    </Panel>
  );
}
