/** How loaded the machine is, now and in the last minutes. */
import { useMemo } from "react";
import { Facts } from "../../ui/Facts.tsx";
import { Fold } from "../../ui/Fold.tsx";
import { duration, size } from "../../ui/format.ts";
import { Meter } from "../../ui/Meter.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { shortLine } from "../../ui/visible-text.ts";
import { Figure } from "./Figure.tsx";
import { memoryOf, partOf, percent, pointsOf, rate, received, sent } from "./figures.ts";
import classes from "./Monitor.module.css";
import { SamplesTable, TABLE_ROWS } from "./SamplesTable.tsx";
import type { Sample } from "./sample.ts";

/** More of them are shown only when somebody wants to see them. */
const SHOWN_CORES = 32;

interface Props {
  /** At least one. */
  readonly samples: readonly Sample[];
  readonly last: Sample;
  readonly isOld: boolean;
  /** How far back charts go, in milliseconds. */
  readonly rangeMs: number;
}

export function LoadView({ samples, last, isOld, rangeMs }: Props) {
  const points = useMemo(() => pointsOf(samples, rangeMs), [samples, rangeMs]);
  const times = points.map(({ at }) => at);
  const of = (figure: (sample: Sample) => number | undefined) =>
    points.map(({ sample }) => sample && figure(sample));
  return (
    <div className={classes.figures}>
      <Figure
        title="Processors"
        times={times}
        most={100}
        shown={percent}
        lines={[
          { label: `All ${last.cores.length} together`, colour: "--info", values: of(({ cpu }) => cpu) },
        ]}
      >
        {last.cores.length <= SHOWN_CORES ? (
          <Cores sample={last} isOld={isOld} />
        ) : (
          <Fold title={`Each of ${last.cores.length} cores`}>
            {() => <Cores sample={last} isOld={isOld} />}
          </Fold>
        )}
        {last.load.length > 0 && (
          <p className={classes.soft}>
            Load over 1, 5 and 15 minutes: {last.load.map((one) => one.toFixed(2)).join(", ")}. 100 % is all
            cores busy.
          </p>
        )}
      </Figure>
      <Figure
        title="Memory"
        times={times}
        most={100}
        shown={percent}
        lines={[{ label: "Used", colour: "--info", values: of(memoryOf) }]}
      >
        <Facts
          facts={[
            ["Memory", ofTotal(last.memory)],
            ["Swap", (last.swap.total ?? 0) > 0 && ofTotal(last.swap)],
          ]}
        />
      </Figure>
      <Figure
        title="Network"
        times={times}
        shown={rate}
        lines={[
          { label: "Received", colour: "--info", values: of(received) },
          { label: "Sent", colour: "--warn", values: of(sent) },
        ]}
      >
        <Fold title="Each interface">
          {() => (
            <Facts
              facts={last.network.map((one) => [
                shortLine(one.name),
                `${rate(one.received)} received, ${rate(one.sent)} sent${one.isLoopback ? " (within the machine)" : ""}`,
              ])}
            />
          )}
        </Fold>
      </Figure>
      <Figure
        title="Disks"
        times={times}
        shown={rate}
        lines={[
          { label: "Read", colour: "--info", values: of((sample) => sample.diskTraffic?.read) },
          { label: "Written", colour: "--warn", values: of((sample) => sample.diskTraffic?.written) },
        ]}
      >
        <div className={classes.disks}>
          {last.disks.map((disk) => (
            <div key={disk.name}>
              <Meter label={shortLine(disk.name)} value={partOf(disk)} isOld={isOld} />
              <p className={classes.soft}>{ofTotal(disk)}</p>
            </div>
          ))}
          {last.silentDisks.map((name) => (
            <p key={name} className={classes.soft}>
              {shortLine(name)} does not answer.
            </p>
          ))}
        </div>
      </Figure>
      {(last.temperatures.length > 0 || last.uptimeSeconds !== undefined) && (
        <Panel title="More">
          <Facts
            facts={[
              ["Running for", last.uptimeSeconds !== undefined && duration(last.uptimeSeconds * 1000)],
              ...last.temperatures.map(
                ({ name, celsius }) => [shortLine(name), `${celsius.toFixed(1)} °C`] as const,
              ),
            ]}
          />
        </Panel>
      )}
      <Panel title="In figures">
        <Fold title={`The last ${Math.min(samples.length, TABLE_ROWS)} samples as a table`}>
          {() => <SamplesTable samples={samples.slice(-TABLE_ROWS)} />}
        </Fold>
      </Panel>
    </div>
  );
}

function Cores({ sample, isOld }: { sample: Sample; isOld: boolean }) {
  const cores = sample.cores.map((busy, at) => ({ name: `Core ${at + 1}`, busy }));
  return (
    <div className={classes.cores}>
      {cores.map(({ name, busy }) => (
        <Meter key={name} label={name} value={busy === undefined ? undefined : busy / 100} isOld={isOld} />
      ))}
    </div>
  );
}

function ofTotal({ used, total }: Sample["memory"]): string {
  if (used === undefined || total === undefined) return "not known";
  return `${size(used)} of ${size(total)} used`;
}
