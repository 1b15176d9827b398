/** How loaded the machine is, now and in the last minutes. */
import { Table } from "@mantine/core";
import { Facts } from "../../ui/Facts.tsx";
import { Fold } from "../../ui/Fold.tsx";
import { duration, size } from "../../ui/format.ts";
import { Meter } from "../../ui/Meter.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { scrolled } from "../../ui/scrolled.ts";
import { visibleLine } from "../../ui/visible-text.ts";
import { Figure } from "./Figure.tsx";
import { partOf, received, sent } from "./figures.ts";
import classes from "./Monitor.module.css";
import type { Sample } from "./sample.ts";

const percent = (value: number) => `${Math.round(value)} %`;
const rate = (value: number) => `${size(Math.round(value))}/s`;
/** Rows of the table in words. */
const IN_WORDS = 20;

interface Props {
  /** At least one. */
  readonly samples: readonly Sample[];
  readonly last: Sample;
  readonly isOld: boolean;
}

export function LoadView({ samples, last, isOld }: Props) {
  const times = samples.map(({ at }) => at);
  const of = (figure: (sample: Sample) => number | undefined) => samples.map(figure);
  const memory = (sample: Sample) => percentOf(partOf(sample.memory));
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
        <div className={classes.cores}>
          {coresOf(last).map(({ name, busy }) => (
            <Meter key={name} label={name} value={busy} isOld={isOld} />
          ))}
        </div>
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
        lines={[{ label: "Used", colour: "--info", values: of(memory) }]}
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
                visibleLine(one.name),
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
              <Meter label={visibleLine(disk.name)} value={partOf(disk)} isOld={isOld} />
              <p className={classes.soft}>{ofTotal(disk)}</p>
            </div>
          ))}
          {last.silentDisks.map((name) => (
            <p key={name} className={classes.soft}>
              {visibleLine(name)} does not answer.
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
                ({ name, celsius }) => [visibleLine(name), `${celsius.toFixed(1)} °C`] as const,
              ),
            ]}
          />
        </Panel>
      )}
      <Panel title="In figures">
        <Fold title={`The last ${Math.min(samples.length, IN_WORDS)} samples as a table`}>
          {() => <InFigures samples={samples.slice(-IN_WORDS)} />}
        </Fold>
      </Panel>
    </div>
  );
}

function InFigures({ samples }: { samples: readonly Sample[] }) {
  const heads = ["Time", "Processors", "Memory", "Received", "Sent", "Read", "Written"];
  return (
    <div className={classes.wide} {...scrolled("Samples")}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            {heads.map((head) => (
              <Table.Th key={head} scope="col">
                {head}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {samples.toReversed().map((sample) => (
            <Table.Tr key={sample.at}>
              <Table.Td>{new Date(sample.at).toLocaleTimeString()}</Table.Td>
              {[
                said(sample.cpu, percent),
                said(percentOf(partOf(sample.memory)), percent),
                said(received(sample), rate),
                said(sent(sample), rate),
                said(sample.diskTraffic?.read, rate),
                said(sample.diskTraffic?.written, rate),
              ].map((text, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its column
                <Table.Td key={at}>{text}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

function coresOf({ cores }: Sample) {
  return cores.map((busy, at) => ({
    name: `Core ${at + 1}`,
    busy: busy === undefined ? undefined : busy / 100,
  }));
}

function said(value: number | undefined, shown: (value: number) => string): string {
  return value === undefined ? "not known" : shown(value);
}

function percentOf(part: number | undefined): number | undefined {
  return part === undefined ? undefined : part * 100;
}

function ofTotal({ used, total }: Sample["memory"]): string {
  if (used === undefined || total === undefined) return "not known";
  return `${size(used)} of ${size(total)} used`;
}
