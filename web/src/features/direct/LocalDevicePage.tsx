/** This computer, as it is reached without the relay: how it is, and what can be done that way. */
import "../../ui/mantine-rest.css";
import { Button, Divider } from "@mantine/core";
import { IconTool } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { LOCAL_DEVICE, useDirect } from "../../direct/local.ts";
import { LoadBars } from "../../machine/LoadBars.tsx";
import { NotThroughHere } from "../../machine/NotThroughHere.tsx";
import { Facts } from "../../ui/Facts.tsx";
import { clockTime } from "../../ui/format.ts";
import { Page } from "../../ui/Page.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { Status } from "../../ui/Status.tsx";
import classes from "./Direct.module.css";
import { DirectTrouble } from "./DirectTrouble.tsx";
import { NotConnected } from "./NotConnected.tsx";
import { directWords } from "./state-words.ts";

export function LocalDevicePage() {
  const direct = useDirect();
  const { state, since, address, roundTrip, version } = direct;
  const { tone, text } = directWords(direct);
  const isOnline = state === "online";
  if (state === "off") return <NotConnected />;
  return (
    <Page
      title="This computer"
      about="Reached directly, without the relay."
      actions={
        <Button
          leftSection={<IconTool size={16} aria-hidden />}
          renderRoot={(props) => <Link to="/d/$device/tools" params={{ device: LOCAL_DEVICE }} {...props} />}
        >
          Run a tool
        </Button>
      }
    >
      <div className={classes.states}>
        <Status tone={tone}>{text}</Status>
      </div>
      <DirectTrouble />
      <Panel title="Health">
        <LoadBars device={LOCAL_DEVICE} isReachable={isOnline} />
        <Divider my="md" />
        <Facts
          facts={[
            ["Address", address],
            ["Since", isOnline && clockTime(since)],
            ["Answers in", isOnline && roundTrip !== undefined && `${Math.ceil(roundTrip)} ms`],
            ["Agent", version && `version ${version}`],
          ]}
        />
        <Divider my="md" />
        <Link to="/settings/$part" params={{ part: "connection" }}>
          Change the connection
        </Link>
      </Panel>
      <Panel title="Through the relay">
        <NotThroughHere>
          Directly, this app acts as you: only the policy file on this computer limits it. Permissions,
          events, the record of calls and sharing are the relay's.
        </NotThroughHere>
      </Panel>
    </Page>
  );
}
