/** A call that runs: for how long, and a way to end it. What was told before the connection broke is shown as old. */
import type { StartedCall } from "@matrx/shared/activity.ts";
import { Link } from "@tanstack/react-router";
import { useId, useState } from "react";
import { useConnection } from "../../relay/connection.ts";
import { stopCall } from "../../relay/known-call.ts";
import { ActionButton } from "../../ui/ActionButton.tsx";
import { clockTime, countdown } from "../../ui/format.ts";
import { useNow } from "../../ui/use-now.ts";
import classes from "./Call.module.css";
import { CallHead } from "./CallHead.tsx";
import { useMachineName } from "./names.ts";
import { Parameters } from "./Parameters.tsx";
import { callName, makerName } from "./words.ts";

export function RunningCall({ call: { call, device, tool, grant, input, at } }: { call: StartedCall }) {
  const id = useId();
  const machine = useMachineName()(device);
  const { state, since } = useConnection();
  const isOld = state !== "online";
  const now = useNow(isOld);
  const [isAsked, setAsked] = useState(false);
  const cancel = async () => {
    await stopCall({ device, call });
    // Its end is shown when the machine tells it.
    setAsked(true);
  };
  return (
    <li className={classes.call} aria-labelledby={id} data-old={isOld || undefined}>
      <CallHead
        id={id}
        tool={tool}
        machine={machine}
        who={makerName(grant)}
        time={
          isOld ? `as of ${clockTime(since)}` : <span role="timer">{countdown(now - Date.parse(at))}</span>
        }
        state={isOld ? { tone: "idle", text: "Was running" } : { tone: "info", text: "Running" }}
      />
      <Parameters input={input} />
      <div className={classes.foot}>
        <ActionButton
          variant="default"
          size="sm"
          aria-label={`Cancel ${callName(tool, machine)}`}
          work={cancel}
        >
          Cancel
        </ActionButton>
        {isAsked && <span role="status">Asked to stop. Its end is shown when the machine tells it.</span>}
        <span>Since {clockTime(at)}</span>
        <Link to="/d/$device/calls/$call" params={{ device, call }}>
          Follow it
        </Link>
      </div>
    </li>
  );
}
