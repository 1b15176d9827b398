/** Makes a token for an AI: it reads the folders that are named, and what else it may do is said here. */
import { Checkbox, NativeSelect, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { api } from "../../../relay/api.ts";
import { Panel } from "../../../ui/Panel.tsx";
import { Form } from "../Form.tsx";
import { DAYS, placesOf, usePlaces } from "./places.ts";

interface Props {
  readonly made: (created: { name: string; token: string; warning?: string | undefined }) => Promise<void>;
  readonly cancel: () => void;
}

export function AiTokenForm({ made, cancel }: Props) {
  const places = usePlaces();
  const [name, setName] = useState("");
  const [place, setPlace] = useState("");
  const [folders, setFolders] = useState("");
  const [writes, setWrites] = useState(false);
  const [runs, setRuns] = useState(false);
  const [asks, setAsks] = useState(true);
  const [days, setDays] = useState("90");
  const create = async () => {
    const effects = [
      "read" as const,
      ...(writes ? ["write" as const] : []),
      ...(runs ? ["execute" as const] : []),
    ];
    const paths = folders
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
    const ask = asks ? [{ effects: ["write" as const, "execute" as const] }] : [];
    const body = { name, ...placesOf(place), paths, effects, ask, days: Number(days) };
    await made(await api("POST /v1/tokens", { body }));
  };
  return (
    <Panel title="New token for an AI">
      <Form submitLabel="Create AI token" work={create} cancel={cancel}>
        <TextInput
          label="Name"
          placeholder="coding assistant"
          required
          withAsterisk={false}
          maxLength={64}
          autoComplete="off"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <NativeSelect
          label="On"
          data={places}
          value={place}
          onChange={(event) => setPlace(event.currentTarget.value)}
        />
        <Textarea
          label="Folders it may work in"
          description="One full path per line; ~ is the home folder, / every file. Secrets such as ~/.ssh stay closed."
          placeholder="~/projects"
          required
          withAsterisk={false}
          autosize
          minRows={2}
          spellCheck={false}
          autoComplete="off"
          value={folders}
          onChange={(event) => setFolders(event.currentTarget.value)}
        />
        <Checkbox
          label="It may change files"
          checked={writes}
          onChange={(event) => setWrites(event.currentTarget.checked)}
        />
        <Checkbox
          label="It may run commands"
          description="In a sandbox that sees only these folders, without network."
          checked={runs}
          onChange={(event) => setRuns(event.currentTarget.checked)}
        />
        <Checkbox
          label="Ask me before it changes files or runs commands"
          checked={asks}
          onChange={(event) => setAsks(event.currentTarget.checked)}
        />
        <NativeSelect
          label="Until"
          data={[...DAYS]}
          value={days}
          onChange={(event) => setDays(event.currentTarget.value)}
        />
      </Form>
    </Panel>
  );
}
