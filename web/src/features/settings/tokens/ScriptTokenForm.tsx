/** Makes an own script token, behind a warning: it acts as its owner. */
import { Alert, Checkbox, NativeSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import { api } from "../../../relay/api.ts";
import { Panel } from "../../../ui/Panel.tsx";
import { Form } from "../Form.tsx";
import { DAYS, placesOf, usePlaces } from "./places.ts";

interface Props {
  readonly made: (created: { name: string; token: string; warning?: string | undefined }) => Promise<void>;
  readonly cancel: () => void;
}

export function ScriptTokenForm({ made, cancel }: Props) {
  const places = usePlaces();
  const [name, setName] = useState("");
  const [place, setPlace] = useState("");
  const [days, setDays] = useState("90");
  const [isUnderstood, setUnderstood] = useState(false);
  const create = async () => {
    const body = { name, credential: "script" as const, ...placesOf(place), days: Number(days) };
    await made(await api("POST /v1/tokens", { body }));
  };
  return (
    <Panel title="New token for my script">
      <Alert color="yellow" variant="outline" mb="md">
        This token acts as you. It runs any command unconfined, is asked nothing and sees your secrets. Never
        give it to an AI.
      </Alert>
      <Form submitLabel="Create script token" work={create} cancel={cancel} isDisabled={!isUnderstood}>
        <TextInput
          label="Name"
          placeholder="backup script"
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
        <NativeSelect
          label="Until"
          data={[...DAYS]}
          value={days}
          onChange={(event) => setDays(event.currentTarget.value)}
        />
        <Checkbox
          label="It is for a script of my own, not for an AI"
          checked={isUnderstood}
          onChange={(event) => setUnderstood(event.currentTarget.checked)}
        />
      </Form>
    </Panel>
  );
}
