/** One figure of the monitor: how it is now, in words, and how it was, as lines. */
import type { ReactNode } from "react";
import { Panel } from "../../ui/Panel.tsx";
import { Chart, type Line } from "./Chart.tsx";
import classes from "./Monitor.module.css";

/** A line has a beginning and an end, and so has the time below it. */
const LEAST_POINTS = 2;

interface Props {
  readonly title: string;
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly most?: number;
  readonly shown: (value: number) => string;
  readonly children?: ReactNode;
}

export function Figure({ title, times, lines, most, shown, children }: Props) {
  return (
    <Panel title={title}>
      <dl className={classes.now}>
        {lines.map(({ label, colour, values }) => {
          const value = values.at(-1);
          return (
            <div key={label}>
              <dt>
                <span className={classes.key} style={{ background: `var(${colour})` }} aria-hidden />
                {label}
              </dt>
              <dd>{value === undefined ? "not known" : shown(value)}</dd>
            </div>
          );
        })}
      </dl>
      {times.length < LEAST_POINTS ? (
        <p className={classes.collecting}>Collecting …</p>
      ) : (
        <Chart times={times} lines={lines} shown={shown} {...(most !== undefined && { most })} />
      )}
      {children}
    </Panel>
  );
}
