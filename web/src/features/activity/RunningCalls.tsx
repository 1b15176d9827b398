/** Calls that run, each with a way to end it. */

import { Text } from "@mantine/core";
import type { StartedCall } from "@matrx/shared/activity.ts";
import classes from "./Feed.module.css";
import { RunningCall } from "./RunningCall.tsx";

interface Props {
  readonly calls: readonly StartedCall[];
  /** Says so if none runs. */
  readonly isAlone: boolean;
}

export function RunningCalls({ calls, isAlone }: Props) {
  if (calls.length === 0 && !isAlone) return null;
  return (
    <section className={classes.part} aria-label="Running">
      <h2 className={classes.title}>{calls.length > 0 ? `Running (${calls.length})` : "Running"}</h2>
      {calls.length === 0 && <Text size="sm">No call is running.</Text>}
      <ul className={classes.list} aria-label="Running now">
        {calls.map((call) => (
          <RunningCall key={call.call} call={call} />
        ))}
      </ul>
    </section>
  );
}
