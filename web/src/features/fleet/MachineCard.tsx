/** A machine in the list: how it is, how loaded, and the ways in. */

import { Button } from "@mantine/core";
import type { DeviceView } from "@matrx/shared/api.ts";
import { Link } from "@tanstack/react-router";
import { LOCAL_DEVICE } from "../../direct/local.ts";
import { LoadBars } from "../../machine/LoadBars.tsx";
import { isOnline, lastStateOf, pausedText, proofOf, stateOf, systemOf } from "../../ui/device-words.ts";
import { ago, clockTime, plural } from "../../ui/format.ts";
import { Status } from "../../ui/Status.tsx";
import { toggle, useSelection } from "../many/selection.ts";
import classes from "./FleetPage.module.css";
import { Tick } from "./Tick.tsx";

interface Props {
  readonly device: DeviceView;
  /** The app is connected: what is shown is how things are now. */
  readonly isLive: boolean;
  /** There are several to choose from. */
  readonly canBeSelected: boolean;
}

export function MachineCard({ device, isLive, canBeSelected }: Props) {
  const { id, name, alerts = 0, tags = [] } = device;
  const isReachable = isLive && isOnline(device);
  const { tone, text } = isLive ? stateOf(device) : lastStateOf(device);
  const paused = pausedText(device);
  const isSelected = useSelection(({ ids }) => ids.includes(id)) && canBeSelected;
  return (
    <li className={classes.card} data-selected={isSelected}>
      <div className={classes.top}>
        {canBeSelected && (
          <div className={classes.tick}>
            <Tick label={`Select ${name}`} isOn={isSelected} change={() => toggle(id)} />
          </div>
        )}
        <h2 className={classes.name}>
          <Link to="/d/$device" params={{ device: id }}>
            <bdi>{name}</bdi>
          </Link>
        </h2>
        <Status tone={tone}>{text}</Status>
      </div>
      {systemOf(device) && <div className={classes.soft}>{systemOf(device)}</div>}
      <div className={classes.states}>
        {id === LOCAL_DEVICE && <Status tone="info">Direct</Status>}
        {paused && <Status tone="warn">{paused}</Status>}
        {alerts > 0 && <Status tone="bad">{plural(alerts, "open alert")}</Status>}
        {tags.map((tag) => (
          <span key={tag} className={classes.tag}>
            {tag}
          </span>
        ))}
      </div>
      {device.kind === "agent" && <LoadBars device={id} isReachable={isReachable} />}
      <div className={classes.soft}>{proofOf(device, isLive ? ago : clockTime)}</div>
      <div className={classes.ways}>
        <Button
          variant="default"
          size="sm"
          renderRoot={(props) => <Link to="/d/$device" params={{ device: id }} {...props} />}
        >
          Open<span className={classes.unseen}> {name}</span>
        </Button>
        <Button
          variant="default"
          size="sm"
          renderRoot={(props) => <Link to="/d/$device/tools" params={{ device: id }} {...props} />}
        >
          Tools<span className={classes.unseen}> of {name}</span>
        </Button>
      </div>
    </li>
  );
}
