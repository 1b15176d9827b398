/** What the owner can do with a machine: its name and tags, its program, and removing it. */

import { Button, Divider, Group, Stack, Text, TextInput } from "@mantine/core";
import type { DeviceView } from "@matrx/shared/api.ts";
import { Link, useNavigate } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { isText, useKeptState } from "../../base/use-kept-state.ts";
import { refreshDevices } from "../../data/devices.ts";
import { givenName } from "../../data/told-apart.ts";
import { api } from "../../relay/api.ts";
import { ActionButton } from "../../ui/ActionButton.tsx";
import { isOnline } from "../../ui/device-words.ts";
import { say, sayProblem } from "../../ui/notices.ts";
import { Panel } from "../../ui/Panel.tsx";
import { TagsField } from "./TagsField.tsx";

export function ManagePanel({ device }: { device: DeviceView }) {
  return (
    <Panel title="Manage">
      <Stack gap="md">
        <NameForm device={device} />
        <TagsField device={device} />
        <Divider />
        <ShareButton device={device} />
        <Divider />
        <ProgramButtons device={device} />
        <Divider />
        <RemoveButton device={device} />
      </Stack>
    </Panel>
  );
}

function NameForm({ device }: { device: DeviceView }) {
  const [typed, setTyped] = useKeptState(`name:${device.id}`, isText);
  const given = givenName(device);
  const name = typed ?? given;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    try {
      await api("PATCH /v1/devices/{device}", { path: { device: device.id }, body: { name } });
      await refreshDevices();
      setTyped(undefined);
      say(`It is called ${name} now.`);
    } catch (error) {
      sayProblem(error);
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <TextInput
          flex={1}
          label="Name"
          required
          withAsterisk={false}
          maxLength={64}
          value={name}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Button type="submit" variant="default" disabled={name === given}>
          Rename
        </Button>
      </Group>
    </form>
  );
}

function ShareButton({ device: { id } }: { device: DeviceView }) {
  return (
    <div>
      <Button
        variant="default"
        renderRoot={(props) => (
          <Link to="/settings/$part" params={{ part: "people" }} search={{ share: id }} {...props} />
        )}
      >
        Share this machine
      </Button>
    </div>
  );
}

function ProgramButtons({ device }: { device: DeviceView }) {
  const { id, name, kind } = device;
  const program = kind === "bare" ? "program" : "agent";
  const send = async (command: "restart_client" | "shutdown", done: string) => {
    const body = { command, reason: "Requested in the web app" };
    await api("POST /v1/devices/{device}/commands", { path: { device: id }, body });
    say(done);
  };
  const isOff = !isOnline(device);
  return (
    <Group gap="xs">
      <ActionButton
        variant="default"
        disabled={isOff}
        work={() => send("restart_client", `The ${program} on ${name} was asked to restart.`)}
        ask={{
          text: `Restart the ${program} on ${name}? Calls running there will be stopped.`,
          yes: `Restart the ${program}`,
        }}
      >
        Restart the {program}
      </ActionButton>
      <ActionButton
        variant="default"
        disabled={isOff}
        work={() => send("shutdown", `The ${program} on ${name} was asked to stop.`)}
        ask={{
          text: `Stop the ${program} on ${name}? The machine can't be reached until someone starts it there.`,
          yes: `Stop the ${program}`,
        }}
      >
        Stop the {program}
      </ActionButton>
      {isOff && (
        <Text size="sm" c="dimmed">
          It is not connected. Only somebody at the machine can start its {program}.
        </Text>
      )}
    </Group>
  );
}

function RemoveButton({ device: { id, name } }: { device: DeviceView }) {
  const navigate = useNavigate();
  const remove = async () => {
    await api("DELETE /v1/devices/{device}", { path: { device: id } });
    await refreshDevices();
    say(`${name} was removed.`);
    await navigate({ to: "/fleet" });
  };
  return (
    <div>
      <ActionButton
        variant="outline"
        color="red"
        work={remove}
        ask={{
          text: `Remove ${name}? Its key stops working at once, and it must be paired again to come back.`,
          yes: "Remove it",
          no: "Keep it",
        }}
      >
        Remove this machine
      </ActionButton>
    </div>
  );
}
