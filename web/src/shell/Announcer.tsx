/** Tells those who listen, on whatever page, that a call waits for their decision. */
import { useEffect, useRef, useState } from "react";
import { useDevices } from "../data/devices.ts";
import { useLive, waiting } from "../relay/live.ts";
import { visibleLine } from "../ui/visible-text.ts";
import classes from "./Shell.module.css";

export function Announcer() {
  const approvals = useLive((live) => live.approvals);
  const { data } = useDevices();
  const [said, setSaid] = useState("");
  const known = useRef(new Set<string>());
  useEffect(() => {
    const fresh = waiting({ approvals }).filter(({ id }) => !known.current.has(id));
    const [first] = fresh;
    if (!first) return;
    for (const { id } of fresh) known.current.add(id);
    if (fresh.length > 1) return setSaid(`${fresh.length} calls wait for your decision.`);
    const { grant_name: name, grant, device, summary } = first;
    const machine = data?.devices.find(({ id }) => id === device)?.name ?? device;
    setSaid(`${visibleLine(name ?? grant)} asks on ${visibleLine(machine)}: ${visibleLine(summary)}`);
  }, [approvals, data]);
  return (
    <div className={classes.unseen} role="status" aria-label="Calls that wait">
      {said}
    </div>
  );
}
