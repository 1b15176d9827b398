/**
 * `npm run bench beside DIR`: CPU and latency of a call at this tree's relay beside another tree's, such as a clone of the
 * commit before, in which `npm run build` has run. Both have a device that does no work. Prints only.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { Problem } from "../scripts/problem.ts";
import { ROOT } from "../scripts/tree.ts";
import { say, withProcesses } from "./interrupt.ts";
import { describeMachine } from "./machine.ts";
import { type Shape, warm } from "./measure.ts";
import type { Processes } from "./processes.ts";
import { type Group, seriesOf, tablesOf } from "./report.ts";
import { runRounds } from "./rounds.ts";
import { Size } from "./size.ts";
import { printMachine, printTable } from "./table.ts";
import { type OurVariants, ours, startOurs } from "./variants/ours.ts";

const size = new Size({ allowPositionals: true });

/** In milliseconds, as for `npm run bench`. */
const plan = size.pick(
  { rounds: 25, warming: 2000, longest: 240_000, giveUp: 360_000 },
  { rounds: 9, warming: 800, longest: 60_000, giveUp: 120_000 },
  { rounds: 1, warming: 50, longest: 0, giveUp: 60_000 },
);

const ONE: Shape = { inFlight: 1, calls: size.pick(300, 300, 10) };
const FEW: Shape = { inFlight: 16, calls: size.pick(600, 600, 16) };

/** Few enough for the rate of MCP's requests, which a grant can't lift. */
const PACED: Shape = { inFlight: 1, calls: size.pick(100, 100, 10) };

const WAYS = {
  read: { title: "WebSocket calls", shapes: [ONE, FEW] },
  rest: { title: "REST calls", shapes: [ONE, FEW] },
  mcp: { title: "MCP calls", shapes: [PACED] },
  ledger: { title: "Calls with an effect", shapes: [ONE, FEW] },
} satisfies Partial<Record<keyof OurVariants, Pick<Group, "title" | "shapes">>>;

type Way = keyof typeof WAYS;

await withProcesses(plan.giveUp, run);

async function run(processes: Processes): Promise<void> {
  const other = configOf(size.pick(size.names[0], size.names[0], ROOT));
  printMachine(describeMachine());
  const before = await ours(processes, await startOurs(processes, "before", other));
  const now = await ours(processes, await startOurs(processes, "now"));
  const groups = (Object.keys(WAYS) as Way[]).map((way) => groupOf(way, before, now));
  say("Warming up");
  for (const { variants, title } of groups)
    for (const { line } of variants) if (title !== WAYS.mcp.title) await warm(line, plan.warming);
  const series = seriesOf(groups);
  await runRounds(series, plan, (round) => say(`Round ${round} of at most ${plan.rounds}`));
  for (const table of tablesOf(groups, series)) printTable(table);
  for (const { variant } of series) variant.line.close();
}

function groupOf(way: Way, before: OurVariants, now: OurVariants): Group {
  const base = { ...before[way], name: "the other tree" };
  return { ...WAYS[way], base, variants: [base, { ...now[way], name: "this tree" }], aims: [] };
}

/** Throws Problem if there is no relay to be started. */
function configOf(folder: string | undefined): string {
  if (folder === undefined) throw new Problem("Name the other tree's folder: npm run bench beside DIR");
  if (!existsSync(join(folder, "dist/worker/index.js")))
    throw new Problem(
      `${resolve(folder)} has no built relay: run \`npm ci\` and \`npm run build\` there first`,
    );
  return resolve(folder, "relay.capnp");
}
