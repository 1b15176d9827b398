/** The chosen machines: which would run the tool now, and why the others can't. */
import { Text } from "@mantine/core";
import { plural } from "../../ui/format.ts";
import { LongText } from "../../ui/LongText.tsx";
import { Status } from "../../ui/Status.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import classes from "./Many.module.css";
import type { Plan, Planned } from "./plan.ts";

export function MachineList({ plan: { machines, able } }: { plan: Plan }) {
  const left = machines.length - able.length;
  return (
    <section className={classes.machines} aria-label="Machines">
      <Text size="sm" c="dimmed" role="status">
        {left === 0
          ? `It can run on all ${machines.length} now.`
          : `It can run on ${able.length} of ${plural(machines.length, "machine")} now.`}
      </Text>
      <ul className={classes.list}>
        {machines.map((machine) => (
          <MachineItem key={machine.id} machine={machine} />
        ))}
      </ul>
    </section>
  );
}

function MachineItem({ machine: { name, obstacle, isAsked } }: { machine: Planned }) {
  return (
    <li className={classes.machine}>
      <bdi className={classes.name}>{visibleLine(name)}</bdi>
      {obstacle === undefined ? (
        <Status tone={isAsked ? "warn" : "ok"}>{isAsked ? "Asks for approval first" : "Ready"}</Status>
      ) : (
        <>
          <Status tone="idle">Not now</Status>
          <span className={classes.why}>
            <LongText text={obstacle} />
          </span>
        </>
      )}
    </li>
  );
}
