/** Versions of the programs that work together, and where more is told. */

import { Anchor, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { version } from "../../../package.json";
import { useDevices } from "../../data/devices.ts";
import { useQuery } from "../../data/query.ts";
import { useConnection } from "../../relay/connection.ts";
import { Facts } from "../../ui/Facts.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { Item, Items } from "./Items.tsx";

export function AboutPart() {
  const { roundTrip } = useConnection();
  const relay = useQuery({ queryKey: ["relay-version"], queryFn: relayVersion, staleTime: 600_000 });
  const machines = (useDevices().data?.devices ?? []).filter(({ agent_version: agent }) => agent !== null);
  return (
    <Stack gap="md">
      <Panel title="Versions">
        <Facts
          facts={[
            ["This app", version],
            ["Relay", relay.data ?? (relay.isPending ? "…" : "it does not tell")],
            ["Relay's address", location.origin],
            ["There and back", roundTrip === undefined ? undefined : `${Math.round(roundTrip)} ms`],
          ]}
        />
      </Panel>
      {machines.length > 0 && (
        <Panel title="Agents on your machines">
          <Items label="Agents">
            {machines.map(({ id, name, agent_version: agent }) => (
              <Item key={id} name={name} details={[visibleLine(agent ?? "")]} />
            ))}
          </Items>
        </Panel>
      )}
      <Panel title="More">
        <Stack gap="xs">
          <Text size="sm">
            <Anchor underline="always" renderRoot={(props) => <Link to="/docs" {...props} />}>
              Reference for programs
            </Anchor>
            : every request that programs can make, also as{" "}
            <Anchor underline="always" href="/openapi.json">
              OpenAPI
            </Anchor>
            .
          </Text>
          <Text size="sm">
            Matrx Relay is free software under the{" "}
            <Anchor underline="always" href="https://www.apache.org/licenses/LICENSE-2.0" rel="noreferrer">
              Apache License 2.0
            </Anchor>
            .
          </Text>
        </Stack>
      </Panel>
    </Stack>
  );
}

/** As its description of itself says. */
async function relayVersion(): Promise<string | null> {
  const response = await fetch("/openapi.json");
  const { info } = (await response.json()) as { info?: { version?: string } };
  return info?.version ?? null;
}
