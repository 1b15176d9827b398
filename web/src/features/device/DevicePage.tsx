/** One machine: how it is, what runs there, what it reported, and what its owner can do with it. */
import "../../ui/mantine-rest.css";
import { Button } from "@mantine/core";
import type { DeviceView } from "@matrx/shared/api.ts";
import { IconLayoutBottombar, IconTool } from "@tabler/icons-react";
import { Link, useParams } from "@tanstack/react-router";
import { LOCAL_DEVICE } from "../../direct/local.ts";
import { OfMachine } from "../../machine/OfMachine.tsx";
import { useConnection } from "../../relay/connection.ts";
import { DEVICE_PLACES } from "../../shell/places.ts";
import { isOnline, lastStateOf, pausedText, proofOf, stateOf } from "../../ui/device-words.ts";
import { ago, clockTime, plural } from "../../ui/format.ts";
import { Page } from "../../ui/Page.tsx";
import { Status } from "../../ui/Status.tsx";
import { RecentCalls } from "../activity/RecentCalls.tsx";
import { LocalDevicePage } from "../direct/LocalDevicePage.tsx";
import classes from "./DevicePage.module.css";
import { EventsPanel } from "./EventsPanel.tsx";
import { HealthPanel } from "./HealthPanel.tsx";
import { ManagePanel } from "./ManagePanel.tsx";

export function DevicePage() {
  const { device: id } = useParams({ from: "/d/$device" });
  if (id === LOCAL_DEVICE) return <LocalDevicePage />;
  return (
    <OfMachine id={id} title="A machine">
      {(device) => <RelayDevicePage device={device} />}
    </OfMachine>
  );
}

function RelayDevicePage({ device }: { device: DeviceView }) {
  const { id } = device;
  const isLive = useConnection(({ state }) => state === "online");
  const { tone, text } = isLive ? stateOf(device) : lastStateOf(device);
  const paused = pausedText(device);
  const { alerts = 0 } = device;
  return (
    <Page
      title={device.name}
      about={proofOf(device, isLive ? ago : clockTime)}
      actions={
        <>
          {placesOf(device).map(({ to, label, icon: Icon }) => (
            <Button
              key={to}
              variant="default"
              leftSection={<Icon size={16} aria-hidden />}
              renderRoot={(props) => <Link to={to} params={{ device: id }} {...props} />}
            >
              {label}
            </Button>
          ))}
          {device.kind === "agent" && (
            <Button
              variant="default"
              leftSection={<IconLayoutBottombar size={16} aria-hidden />}
              renderRoot={(props) => (
                <Link
                  to="/d/$device/files/$"
                  params={{ device: id }}
                  search={{ terminal: "last" }}
                  {...props}
                />
              )}
            >
              Terminal and files
            </Button>
          )}
          <Button
            leftSection={<IconTool size={16} aria-hidden />}
            renderRoot={(props) => <Link to="/d/$device/tools" params={{ device: id }} {...props} />}
          >
            Run a tool
          </Button>
        </>
      }
    >
      <div className={classes.states}>
        <Status tone={tone}>{text}</Status>
        {paused && <Status tone="warn">{paused}</Status>}
        {alerts > 0 && <Status tone="bad">{plural(alerts, "open alert")}</Status>}
      </div>
      <div className={classes.columns}>
        <div className={classes.panels}>
          <HealthPanel device={device} isReachable={isLive && isOnline(device)} />
          <EventsPanel device={id} />
          <RecentCalls device={id} />
        </div>
        {device.shared_by === undefined && <ManagePanel key={id} device={device} />}
      </div>
    </Page>
  );
}

/** Pages of this machine besides this one and its tools: a program of one's own has no terminal, no files and no screen here. */
function placesOf({ kind }: DeviceView) {
  const places = DEVICE_PLACES.filter(({ to }) => to !== "/d/$device" && to !== "/d/$device/tools");
  return kind === "agent" ? places : places.filter(({ to }) => to === "/d/$device/permissions");
}
