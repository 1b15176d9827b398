/** The last step: the machine that was added has connected. */
import { Button, Group, Loader, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useDevice } from "../../data/devices.ts";
import { isOnline } from "../../ui/device-words.ts";
import { Page } from "../../ui/Page.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { Status } from "../../ui/Status.tsx";
import classes from "./PairPage.module.css";

/** The machine that a code was confirmed for. */
export interface Added {
  readonly device: string;
  readonly name: string;
}

export function ConnectedPanel({ added, again }: { added: Added; again: () => void }) {
  const { device, name } = added;
  const found = useDevice(device);
  const isConnected = found !== undefined && isOnline(found);
  return (
    <Page title={`${name} was added`}>
      <div className={classes.steps}>
        <Panel>
          <Group gap="sm" role="status">
            {isConnected ? <Status tone="ok">Connected</Status> : <Loader size="xs" />}
            <Text size="sm">
              {isConnected
                ? "The machine is connected and ready."
                : "Waiting for it to connect. Leave the command running on the machine."}
            </Text>
          </Group>
          <Group mt="md">
            {found && (
              <Button renderRoot={(props) => <Link to="/d/$device" params={{ device }} {...props} />}>
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
