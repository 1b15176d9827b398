/** The machine at hand, and a way to another one. */
import { IconChevronDown } from "@tabler/icons-react";
import { Link, useNavigate } from "@tanstack/react-router";
import { useMachines } from "../data/devices.ts";
import { LOCAL_DEVICE } from "../direct/local.ts";
import { useConnection } from "../relay/connection.ts";
import { nameInText } from "../ui/visible-text.ts";
import classes from "./Shell.module.css";
import { useCurrentDevice } from "./use-current-device.ts";

export function DevicePicker() {
  const current = useCurrentDevice();
  const navigate = useNavigate();
  const devices = useMachines();
  const isLive = useConnection(({ state }) => state === "online") || current === LOCAL_DEVICE;
  if (devices.length === 0) return <Link to="/pair">Add your first machine</Link>;
  const state = isLive ? devices.find(({ id }) => id === current)?.state : undefined;
  return (
    <div className={classes.picker} data-state={state ?? "UNKNOWN"}>
      <span className={classes.pickerDot} aria-hidden />
      <select
        aria-label="Machine"
        value={current}
        onChange={({ currentTarget: { value } }) =>
          void navigate({ to: "/d/$device", params: { device: value } })
        }
      >
        {devices.map(({ id, name, state: each }) => (
          <option key={id} value={id}>
            {nameInText(name)}
            {each === "ONLINE" || each === "IDLE" ? "" : " (offline)"}
          </option>
        ))}
      </select>
      <IconChevronDown size={16} aria-hidden />
    </div>
  );
}
