/** A state in a word, with a dot: never by colour alone. */
import type { ReactNode } from "react";
import classes from "./Status.module.css";

export type Tone = "ok" | "warn" | "bad" | "info" | "idle";

export function Status({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className={classes.status} data-tone={tone}>
      <span className={classes.dot} aria-hidden />
      {children}
    </span>
  );
}
