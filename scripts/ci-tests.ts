/**
 * The tests of CI. `ci-tests.ts run FOLDER SCRIPT` runs one npm script of tests, then its failed files once more, each
 * alone, and notes in FOLDER how they ended. `ci-tests.ts summary FOLDER` ends the run: minutes, flaky tests, counts.
 * Exit code 1 if what is noted so far fails the run, 69 if the script's packages cannot be installed: it is left out.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  type FileResult,
  failedFiles,
  judge,
  problemsOf,
  type RunResult,
  runSchema,
  type Stage,
  stageSchema,
} from "./ci/verdict.ts";
import { UNAVAILABLE } from "./install-aside.ts";
import { Problem, reportAndExit } from "./problem.ts";

const STAGE_FILE = ".stage.json";

await main(process.argv.slice(2)).catch(reportAndExit);

async function main([command, folder, script]: string[]): Promise<void> {
  if (command === "run" && folder && script) process.exitCode = await runStage(folder, script);
  else if (command === "summary" && folder) process.exitCode = summarize(readStages(folder));
  else throw new Problem("Say `run FOLDER SCRIPT` or `summary FOLDER`.");
}

async function runStage(folder: string, script: string): Promise<number> {
  const { run, ending } = await runTests(folder, script, []);
  if (!run && ending === UNAVAILABLE) {
    console.log(`\nnpm run ${script} is left out: its packages cannot be installed.`);
    return UNAVAILABLE;
  }
  const problems = problemsOf(run, ending);
  const stage: Stage = { name: script, files: run?.files ?? [], again: [], problems };
  if (problems.length === 0) await runFailedAgain(folder, stage);
  const count = readStages(folder).length;
  writeFileSync(join(folder, `${count + 1}${STAGE_FILE}`), JSON.stringify(stage));
  const { flaky, failed } = judge([stage]);
  for (const { line, output } of [...flaky, ...failed]) console.log(`\n${line}\n${output}`);
  for (const problem of stage.problems) console.log(`\nFAILED npm run ${script}: ${problem}`);
  return judge(readStages(folder)).counts.failed === 0 ? 0 : 1;
}

async function runFailedAgain(folder: string, stage: Stage): Promise<void> {
  for (const { project, file } of failedFiles(stage.files)) {
    console.log(`\nOnce more, alone: ${file}`);
    const { run, ending } = await runTests(folder, stage.name, ["--", resolve(file), "--project", project]);
    const problems = problemsOf(run, ending).map((problem) => `${file}, run again: ${problem}`);
    stage.problems.push(...problems);
    if (problems.length === 0) stage.again.push(...(run?.files ?? []));
  }
}

interface Ended {
  /** Undefined: no results, as after a crash. */
  readonly run: RunResult | undefined;
  /** Exit code or signal. */
  readonly ending: number | string;
}

async function runTests(folder: string, script: string, args: readonly string[]): Promise<Ended> {
  mkdirSync(folder, { recursive: true });
  const results = resolve(folder, "run.json");
  rmSync(results, { force: true });
  const child = spawn("npm", ["run", script, ...args], {
    env: { ...process.env, MATRX_TEST_RESULTS: results },
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  const [code, signal] = await once(child, "close");
  const run = existsSync(results) ? runSchema.parse(JSON.parse(readFileSync(results, "utf8"))) : undefined;
  return { run, ending: code ?? signal };
}

function readStages(folder: string): Stage[] {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith(STAGE_FILE))
    .sort();
  return files.map((name) => stageSchema.parse(JSON.parse(readFileSync(join(folder, name), "utf8"))));
}

function summarize(stages: readonly Stage[]): number {
  console.log(`\n${["Minutes", "wall", "sum", "files"].map(cell).join("")}`);
  for (const { name, files } of stages) {
    for (const [project, own] of Map.groupBy(files, ({ project }) => project)) {
      console.log([`${name} ${project}`, ...minutesOf(own), own.length].map(cell).join(""));
    }
  }
  const { flaky, failed, problems, counts } = judge(stages);
  console.log();
  for (const { line } of [...flaky, ...failed]) console.log(line);
  for (const problem of problems) console.log(`FAILED ${problem}`);
  console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  return counts.failed === 0 ? 0 : 1;
}

/** From the first file's start to the last one's end, and of all files together. */
function minutesOf(files: readonly FileResult[]): string[] {
  const wall = Math.max(...files.map(({ ended }) => ended)) - Math.min(...files.map(({ began }) => began));
  const sum = files.reduce((total, { began, ended }) => total + ended - began, 0);
  return [wall, sum].map((milliseconds) => (milliseconds / 60_000).toFixed(1));
}

function cell(value: string | number, column: number): string {
  return column === 0 ? String(value).padEnd(24) : String(value).padStart(8);
}
