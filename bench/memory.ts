/**
 * `npm run bench memory`: how much memory relay and agent use while large results are read at once, and while nobody
 * reads them. Each case has its own relay and agent. Given names of cases, it runs only those. All figures:
 * bench/memory-results.json.
 */
import { Problem, reportAndExit } from "../scripts/problem.ts";
import { say, withProcesses } from "./interrupt.ts";
import { describeMachine } from "./machine.ts";
import { CASES, type Case, type Figures, measureCase } from "./memory/cases.ts";
import type { Processes } from "./processes.ts";
import { Size } from "./size.ts";
import { printMachine } from "./table.ts";

const size = new Size({ allowPositionals: true });
const wanted = size.pick(size.names, size.names, ["eight"]);

const unknown = wanted.find((wish) => !CASES.some(({ name }) => name === wish));
if (unknown !== undefined)
  reportAndExit(
    new Problem(`There is no case "${unknown}". The cases are: ${CASES.map(({ name }) => name).join(", ")}.`),
  );

const RESULTS = new URL("./memory-results.json", import.meta.url);
const LONGEST = 15 * 60_000;
/** Time to give memory back, in milliseconds. */
const SETTLE = 15_000;
/** In MiB: what the processes may use at most, in every case. */
const AT_MOST = { relay: 250, agent: 400 };

await withProcesses(LONGEST, run);

async function run(processes: Processes): Promise<void> {
  const machine = describeMachine();
  printMachine(machine);
  const results: ({ name: string } & Figures)[] = [];
  for (const one of CASES.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
    say(`${one.name}: ${one.what}`);
    const figures = await measureCase(processes, one, size.pick(SETTLE, SETTLE, 0));
    print(one, figures);
    results.push({ name: one.name, ...figures });
  }
  if (wanted.length > 0) return;
  const text = JSON.stringify({ date: new Date().toISOString(), machine, results }, undefined, 2);
  size.keep(RESULTS, text);
}

function print({ name }: Case, { relay, agent, seconds, notes }: Figures): void {
  for (const [program, { before, peak, after }] of Object.entries({ relay, agent })) {
    const most = AT_MOST[program as keyof typeof AT_MOST];
    const verdict = peak <= most ? "reached" : "NOT reached";
    console.log(
      `  ${name}, ${program}: ${before} MiB before, ${peak} at most (aim ${most}: ${verdict}), ${after} afterwards`,
    );
  }
  console.log(`  ${name}: ${seconds.toFixed(1)} s${notes.map((note) => `; ${note}`).join("")}`);
}
