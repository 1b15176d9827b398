/** The direct connection to this computer: how it stands, and a form to make it or to end it. */
import { Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useRef } from "react";
import { LOCAL_DEVICE, useDirect } from "../../../direct/local.ts";
import { clockTime } from "../../../ui/format.ts";
import { Panel } from "../../../ui/Panel.tsx";
import { Status } from "../../../ui/Status.tsx";
import classes from "../../direct/Direct.module.css";
import { DirectTrouble } from "../../direct/DirectTrouble.tsx";
import { directWords } from "../../direct/state-words.ts";
import { DirectForm } from "./DirectForm.tsx";

export function DirectPanel() {
  const direct = useDirect();
  const { state, since, roundTrip } = direct;
  const { tone, text } = directWords(direct);
  const stand = useRef<HTMLDivElement>(null);
  const isOnline = state === "online";
  return (
    <Panel
      title="Directly to this computer"
      about={
        <>
          If Matrx runs on the computer in front of you, the app can use its tools without the relay. It needs
          the local server there: <code>matrx serve</code>.
        </>
      }
    >
      <Stack gap="md">
        <Group gap="xs" role="status" tabIndex={-1} ref={stand} className={classes.state ?? ""}>
          <Status tone={tone}>{text}</Status>
          {isOnline && (
            <Text size="sm" c="dimmed">
              since {clockTime(since)}
              {roundTrip !== undefined && `, answers in ${Math.ceil(roundTrip)} ms`}
            </Text>
          )}
        </Group>
        {state === "connecting" && !direct.obstacle && (
          <Text size="sm" c="dimmed">
            If the browser asks whether this page may reach this computer, allow it.
          </Text>
        )}
        {isOnline && (
          <Link to="/d/$device/tools" params={{ device: LOCAL_DEVICE }}>
            Tools of this computer
          </Link>
        )}
        <DirectTrouble />
        {/* The focus must not get lost with a button. */}
        <DirectForm onChange={() => stand.current?.focus({ preventScroll: true })} />
      </Stack>
    </Panel>
  );
}
