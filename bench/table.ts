/** Tables as text. */
import type { Machine } from "./machine.ts";
import type { Reach, Row, Table } from "./report.ts";
import type { Spread } from "./spread.ts";

const COLUMNS = ["p50 us", "p99 us", "calls/s", "relay CPU us", "latency ratio", "CPU ratio"] as const;

export function printMachine(machine: Machine): void {
  const { cpu, cores, memory_gib, system, kernel, node, workerd } = machine;
  console.log(`${cpu}, ${cores} cores, ${memory_gib} GiB, ${system} ${kernel}; node ${node}, ${workerd}`);
}

export function printTable({ title, in_flight, base, rows }: Table): void {
  const names = Math.max(...rows.map(({ variant }) => variant.length));
  const cells = [COLUMNS as readonly string[], ...rows.map(cellsOf)];
  const widths = COLUMNS.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  console.log(`\n${title}, ${in_flight} in flight (ratios to ${base})`);
  cells.forEach((row, line) => {
    const name = (line === 0 ? "" : (rows[line - 1]?.variant ?? "")).padEnd(names);
    console.log(`  ${name}  ${row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join("  ")}`);
  });
}

function cellsOf({ p50_us, p99_us, calls_per_s, cpu_us, latency_ratio, cpu_ratio }: Row): string[] {
  return [
    withSpread(p50_us, 0),
    p99_us.toFixed(0),
    withSpread(calls_per_s, 0),
    withSpread(cpu_us, 0),
    withSpread(latency_ratio, 2),
    withSpread(cpu_ratio, 2),
  ];
}

export function printReach({ what, at_most, ratio, reached }: Reach): void {
  const verdict = reached === undefined ? "not measured" : reached ? "reached" : "NOT reached";
  console.log(`  ${what}: ${withSpread(ratio, 2)}, at most ${at_most}: ${verdict}`);
}

/** median [min..max] */
export function withSpread(spread: Spread | undefined, digits: number): string {
  if (!spread) return "-";
  const [median, min, max] = [spread.median, spread.min, spread.max].map((value) => value.toFixed(digits));
  return `${median} [${min}..${max}]`;
}
