/** The last samples in figures, for whoever can't see the charts. */
import { Table } from "@mantine/core";
import { scrolled } from "../../ui/scrolled.ts";
import { memoryOf, percent, rate, received, sent } from "./figures.ts";
import classes from "./Monitor.module.css";
import type { Sample } from "./sample.ts";

/** More would be no help to anybody. */
export const TABLE_ROWS = 20;

export function SamplesTable({ samples }: { samples: readonly Sample[] }) {
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
                said(memoryOf(sample), percent),
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

function said(value: number | undefined, shown: (value: number) => string): string {
  return value === undefined ? "not known" : shown(value);
}
