/** The connection through the relay: always wanted, and made by itself. */
import { Stack } from "@mantine/core";
import { type ConnectionState, useConnection } from "../../../relay/connection.ts";
import { Facts } from "../../../ui/Facts.tsx";
import { clockTime } from "../../../ui/format.ts";
import { Panel } from "../../../ui/Panel.tsx";
import { Status, type Tone } from "../../../ui/Status.tsx";

const STATES: Readonly<Record<ConnectionState, readonly [Tone, string]>> = {
  connecting: ["warn", "Not connected yet"],
  online: ["ok", "Connected to the relay"],
  reconnecting: ["warn", "Reconnecting to the relay"],
  "signed out": ["bad", "Signed out"],
};

export function RelayPanel() {
  const { state, since, roundTrip } = useConnection();
  const [tone, text] = STATES[state];
  return (
    <Panel
      title="Through the relay"
      about="Your machines wherever they are, with permissions, approvals and the record. The app stays connected by itself."
    >
      <Stack gap="sm" align="flex-start">
        <Status tone={tone}>{text}</Status>
        <Facts
          facts={[
            ["Relay", location.origin],
            ["Since", state !== "connecting" && clockTime(since)],
            ["Answers in", roundTrip !== undefined && `${Math.ceil(roundTrip)} ms`],
          ]}
        />
      </Stack>
    </Panel>
  );
}
