/** The first line of a call: which tool, where, by whom, when, and how it stands. */
import type { ReactNode } from "react";
import { Status } from "../../ui/Status.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import classes from "./Call.module.css";
import type { InWords } from "./words.ts";

interface Props {
  readonly id: string;
  readonly tool: string;
  readonly machine: string;
  readonly who: string;
  /** The time, or how long it takes. */
  readonly time: ReactNode;
  readonly state: InWords;
}

export function CallHead({ id, tool, machine, who, time, state: { tone, text } }: Props) {
  return (
    <div className={classes.head}>
      <h3 id={id}>
        <code>{visibleLine(tool) || "A call"}</code>
        <span className={classes.unseen}> on </span> <bdi className={classes.about}>{machine}</bdi>
      </h3>
      <span className={classes.about}>
        <span aria-hidden>· </span>
        <bdi>{who}</bdi>
      </span>
      <span className={classes.end}>
        <span className={classes.time}>{time}</span>
        <Status tone={tone}>{text}</Status>
      </span>
    </div>
  );
}
