/**
 * `npm run bench audit`: what the record adds to a call: CPU and latency of our relay, which tells the record of each,
 * beside a Durable Object that checks and records nothing. `--quick`: fewer rounds. Figures: bench/audit-results.json.
 */
import { say, withProcesses } from "./interrupt.ts";
import { describeMachine } from "./machine.ts";
import { type Shape, warm } from "./measure.ts";
import type { Processes } from "./processes.ts";
import { type Group, reachesOf, seriesOf, tablesOf } from "./report.ts";
import { runRounds } from "./rounds.ts";
import { Size } from "./size.ts";
import { printMachine, printReach, printTable } from "./table.ts";
import { ours, startOurs } from "./variants/ours.ts";
import { rawObject } from "./variants/raw-object.ts";

const size = new Size();

const RESULTS = new URL("./audit-results.json", import.meta.url);

/** In milliseconds, as for `npm run bench`. */
const plan = size.pick(
  { rounds: 25, warming: 3000, longest: 120_000, giveUp: 240_000 },
  { rounds: 5, warming: 800, longest: 20_000, giveUp: 60_000 },
  { rounds: 1, warming: 50, longest: 0, giveUp: 60_000 },
);

const ONE: Shape = { inFlight: 1, calls: size.pick(300, 300, 10) };
const MANY: Shape = { inFlight: 64, calls: size.pick(600, 600, 64) };

await withProcesses(plan.giveUp, run);

async function run(processes: Processes): Promise<void> {
  const machine = describeMachine();
  printMachine(machine);
  const raw = await rawObject(processes);
  const our = await ours(processes, await startOurs(processes));
  const group: Group = {
    title: "WebSocket calls, each in the record",
    base: raw.socket,
    variants: [raw.socket, our.read],
    shapes: [ONE, MANY],
    aims: [{ what: "CPU with the record", variant: our.read, ratio: "cpu_ratio", atMost: 1.5 }],
  };
  for (const { name, line } of group.variants) {
    say(`Warming up: ${name}`);
    await warm(line, plan.warming);
  }
  const series = seriesOf([group]);
  await runRounds(series, plan, (round) => say(`Round ${round} of at most ${plan.rounds}`));
  const tables = tablesOf([group], series);
  const reaches = reachesOf([group], tables);
  for (const table of tables) printTable(table);
  for (const reach of reaches) printReach(reach);
  const figures = { date: new Date().toISOString(), quick: size.quick, machine, reaches, tables };
  size.keep(RESULTS, JSON.stringify(figures, rounded, 2));
  for (const { variant } of series) variant.line.close();
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === "number" ? Number(value.toPrecision(5)) : value;
}
