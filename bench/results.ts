/** bench/results.json: everything that a run found, for reading and for comparing with another. */
import type { Machine } from "./machine.ts";
import type { Reach, Table } from "./report.ts";
import type { Series } from "./rounds.ts";
import type { Size } from "./size.ts";

export const RESULTS = new URL("./results.json", import.meta.url);

export interface Run {
  date: string;
  quick: boolean;
  rounds: number;
  machine: Machine;
  reaches: Reach[];
  tables: Table[];
}

export function writeResults(size: Size, run: Run, series: Series[]): void {
  const text = JSON.stringify({ ...run, measurements: series.map(measurementOf) }, rounded, 2);
  size.keep(RESULTS, text);
}

/** Every round's own figures; the latencies of single calls are left out. */
function measurementOf({ variant, shape, samples }: Series) {
  const rounds = samples.map(({ latencies: _, ...figures }) => figures);
  return { variant: variant.name, in_flight: shape.inFlight, calls: shape.calls, rounds };
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === "number" ? Number(value.toPrecision(5)) : value;
}
