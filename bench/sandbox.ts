/**
 * `npm run bench sandbox`: what the sandbox adds to a command, in this process and without a link: `true` as a job, free and
 * confined, in turn. `--quick`: fewer rounds. Figures: bench/sandbox-results.json.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { EFFECTS } from "@matrx/shared/effects.ts";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { Admission } from "../agent/core/gate.ts";
import { Files } from "../agent/fs/access.ts";
import { type Command, Jobs } from "../agent/jobs/jobs.ts";
import { DomainProxies } from "../agent/sandbox/domain-proxies.ts";
import { Sandbox } from "../agent/sandbox/sandbox.ts";
import { describeMachine } from "./machine.ts";
import { Size } from "./size.ts";
import { spreadOf } from "./spread.ts";
import { printMachine } from "./table.ts";

const size = new Size();
const ROUNDS = size.pick(100, 15, 1);
const AT_MOST_TIMES = 3;
const RESULTS = new URL("./sandbox-results.json", import.meta.url);

const root = realpathSync(mkdtempSync(path.join(tmpdir(), "matrx-bench-")));
const work = path.join(root, "work");
const directory = path.join(root, "jobs");
mkdirSync(work);
const files = new Files({ protectedPaths: () => ({ closed: [directory], program: [] }) });
const jobs = await Jobs.open({ directory });
const sandbox = new Sandbox({ files, proxies: new DomainProxies("/nowhere") });
const grant = { id: makeGrantId(), owner: false, effects: [...EFFECTS], paths: [work] };
const command = { grant: grant.id, command: "true", cwd: work, background: false, owner: false };

const WAYS: Record<string, () => Promise<void>> = {
  free: () => run(command),
  confined: async () => {
    const { rights } = new Admission({ grant }, {}, async () => undefined);
    const { rules, wrap } = await sandbox.confine({ session: { cwd: work }, rights });
    await run({ ...command, cwd: rules.cwd, confine: wrap });
  },
};

async function run(what: Command): Promise<void> {
  const job = await jobs.start(what);
  // What a job waits for does not keep this program alive.
  const alive = setInterval(() => undefined, 1000);
  await job.ended;
  clearInterval(alive);
  if (job.record.exit !== 0) throw new Error(`the command ended with exit code ${job.record.exit}`);
}

/** Milliseconds. */
async function measure(way: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await way();
  return performance.now() - began;
}

const machine = describeMachine();
printMachine(machine);
for (const way of Object.values(WAYS)) await measure(way);
const rounds: number[][] = [];
for (let round = 0; round < ROUNDS; round++) {
  const times: number[] = [];
  for (const way of Object.values(WAYS)) times.push(await measure(way));
  rounds.push(times);
}
jobs.close();
rmSync(root, { recursive: true, force: true });

const results = Object.keys(WAYS).map((what, index) => ({
  what,
  ms: spreadOf(rounds.map((round) => round[index] ?? Number.NaN)),
}));
for (const { what, ms } of results)
  console.log(`${what.padEnd(10)} ${ms.median.toFixed(1)} [${ms.min.toFixed(1)}..${ms.max.toFixed(1)}] ms`);
const times = spreadOf(rounds.map(([free = Number.NaN, confined = Number.NaN]) => confined / free)).median;
const reached = times <= AT_MOST_TIMES;
console.log(`${times.toFixed(2)} times${reached ? "" : `, and should be at most ${AT_MOST_TIMES}`}`);
const date = new Date().toISOString();
const all = {
  date,
  quick: size.quick,
  rounds: ROUNDS,
  machine,
  results,
  times,
  at_most: AT_MOST_TIMES,
  reached,
};
size.keep(RESULTS, JSON.stringify(all, null, 2));
process.exit();
