/** The last step: the machine that was added has connected. */
import { Button, Group, Loader, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useDevices } from "../../relay/devices.ts";
import { Page } from "../../ui/Page.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { Status } from "../../ui/Status.tsx";
import classes from "./PairPage.module.css";

export function ConnectedPanel({ name, again }: { name: string; again: () => void }) {
  const { data } = useDevices();
  const newest = data?.devices
    .filter((device) => device.name === name)
    .toSorted((one, other) => other.created.localeCompare(one.created))[0];
  const isOnline = newest?.state === "ONLINE" || newest?.state === "IDLE";
  return (
    <Page title={`${name} was added`}>
      <div className={classes.steps}>
        <Panel>
          <Group gap="sm" role="status">
            {isOnline ? <Status tone="ok">Connected</Status> : <Loader size="xs" />}
            <Text size="sm">
              {isOnline
                ? "The machine is connected and ready."
                : "Waiting for it to connect. Leave the command running on the machine."}
            </Text>
          </Group>
          <Group mt="md">
            {newest && (
              <Button
                renderRoot={(props) => <Link to="/d/$device" params={{ device: newest.id }} {...props} />}
              >
                Open {name}
              </Button>
            )}
            <Button variant="default" onClick={again}>
              Add another machine
            </Button>
          </Group>
        </Panel>
      </div>
    </Page>
  );
}
