/** How loaded a machine is, and what it is. */

import { Alert, Divider, Text } from "@mantine/core";
import type { DeviceView } from "@matrx/shared/api.ts";
import { useLoad } from "../../data/system-info.ts";
import { LoadBars } from "../../machine/LoadBars.tsx";
import { systemOf } from "../../ui/device-words.ts";
import { Facts } from "../../ui/Facts.tsx";
import { ago, clockTime, dateOf, duration } from "../../ui/format.ts";
import { Panel } from "../../ui/Panel.tsx";

interface Props {
  readonly device: DeviceView;
  readonly isReachable: boolean;
}

export function HealthPanel({ device, isReachable }: Props) {
  const {
    id,
    hostname,
    agent_version: version,
    created,
    last_seen: seen,
    paused,
    records_lost: lost,
  } = device;
  const { query } = useLoad(id, isReachable && device.kind === "agent");
  const { data, error } = query;
  return (
    <Panel title="Health">
      {device.kind === "agent" && <LoadBars device={id} isReachable={isReachable} />}
      {error && error.name !== "AbortError" && isReachable && (
        <Text size="sm" c="dimmed">
          Its load is not known: {error.message}
        </Text>
      )}
      {paused && (
        <Alert color="yellow" variant="outline" mt="sm">
          Somebody at the machine paused it{paused === "ai" ? " for AI" : ""}. Only there it can be opened
          again: <code>matrx resume</code>
        </Alert>
      )}
      {lost && (
        <Alert color="red" variant="outline" mt="sm">
          On {clockTime(lost)} the relay noticed that its storage had lost records of this machine's calls.
          Changes of its permissions may be lost too: check them.
        </Alert>
      )}
      {device.kind === "agent" && <Divider my="md" />}
      <Facts
        facts={[
          ["System", systemOf(device)],
          ["Computer", hostname],
          ["Running for", data?.uptimeSeconds !== undefined && duration(data.uptimeSeconds * 1000)],
          ["Agent", version && `version ${version}`],
          ["Last seen", seen && (isReachable ? ago : clockTime)(seen)],
          ["Added", dateOf(created)],
          ["Id", id],
        ]}
      />
    </Panel>
  );
}
