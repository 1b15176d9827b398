/**
 * `npm run bench`, also called `calls`: what a call costs through our relay, beside no relay, a bare Node relay, and a Durable Object that
 * checks nothing. `--quick`: fewer rounds. Results: tables here, all figures in bench/results.json.
 */
import { startGroups } from "./groups.ts";
import { say, withProcesses } from "./interrupt.ts";
import { describeMachine } from "./machine.ts";
import { warm } from "./measure.ts";
import type { Processes } from "./processes.ts";
import { type Group, reachesOf, seriesOf, tablesOf } from "./report.ts";
import { RESULTS, writeResults } from "./results.ts";
import { runRounds } from "./rounds.ts";
import { Size } from "./size.ts";
import { printMachine, printReach, printTable } from "./table.ts";

const size = new Size();

/** In milliseconds: how long a variant is warmed up, the rounds may take, and all may take before it is given up. */
const plan = size.pick(
  { rounds: 25, warming: 3000, longest: 240_000, giveUp: 360_000 },
  { rounds: 5, warming: 800, longest: 25_000, giveUp: 60_000 },
  { rounds: 1, warming: 50, longest: 0, giveUp: 60_000 },
);

await withProcesses(plan.giveUp, run);

async function run(processes: Processes): Promise<void> {
  const machine = describeMachine();
  printMachine(machine);
  const groups = await startGroups(processes, size, say);
  await warmUp(groups);
  const series = seriesOf(groups);
  await runRounds(series, plan, (round) => say(`Round ${round} of at most ${plan.rounds}`));
  const tables = tablesOf(groups, series);
  const reaches = reachesOf(groups, tables);
  for (const table of tables) printTable(table);
  console.log("\nTo be reached, one call at a time:");
  for (const reach of reaches) printReach(reach);
  const rounds = Math.min(...series.map(({ samples }) => samples.length));
  const date = new Date().toISOString();
  writeResults(size, { date, quick: size.quick, rounds, machine, reaches, tables }, series);
  console.log(`\nmedian [min..max] over ${rounds} rounds; all figures: ${RESULTS.pathname}`);
  for (const { variant } of series) variant.line.close();
}

async function warmUp(groups: Group[]): Promise<void> {
  for (const variant of new Set(groups.flatMap(({ variants }) => variants))) {
    say(`Warming up: ${variant.name}`);
    await warm(variant.line, plan.warming);
  }
}
