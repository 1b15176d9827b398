/** A program of one's own as a machine, without our agent: it gets an id and a token. */
import { Anchor, Button, Code, Group, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { refreshDevices } from "../../data/devices.ts";
import { api } from "../../relay/api.ts";
import type { Answer } from "../../relay/routes.ts";
import { CopyButton } from "../../ui/CopyButton.tsx";
import { sayProblem } from "../../ui/notices.ts";
import { OnlyHere } from "../../ui/OnlyHere.tsx";
import { Panel } from "../../ui/Panel.tsx";

type Created = Answer<"POST /v1/devices">;

export function BareDevicePanel() {
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState("");
  const [made, setMade] = useState<Created>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    try {
      setMade(await api("POST /v1/devices", { body: { name } }));
      setName("");
      await refreshDevices();
    } catch (error) {
      sayProblem(error);
    }
  };
  if (!isOpen)
    return (
      <div>
        <Anchor component="button" type="button" size="sm" onClick={() => setOpen(true)}>
          Your own program, without our agent
        </Anchor>
      </div>
    );
  return (
    <Panel title="Your own program">
      <form onSubmit={(event) => void submit(event)}>
        <Group align="flex-end" gap="xs">
          <TextInput
            label="Name"
            description="It gets an id and a token. The protocol is in docs/protocol.md."
            required
            withAsterisk={false}
            maxLength={64}
            autoComplete="off"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Button type="submit" variant="default">
            Add
          </Button>
        </Group>
      </form>
      {made && <CreatedView {...made} />}
    </Panel>
  );
}

function CreatedView({ device, token }: Created) {
  const address = `${location.origin.replace(/^http/, "ws")}/v1/device/ws?device=${device.id}`;
  return (
    <Stack gap="xs" mt="md" role="status">
      <Text size="sm">Its token, shown only this once:</Text>
      <Code block>{token}</Code>
      <div>
        <CopyButton text={token}>Copy the token</CopyButton>
      </div>
      <Text size="sm">It connects to:</Text>
      <Code block>{address}</Code>
      <OnlyHere who="A program elsewhere" />
    </Stack>
  );
}
