/** What CI makes of test results: a test that fails and then passes alone is flaky, and a few of those pass the run. */
import { z } from "zod";

/** More files than this that failed are no flake: none of them runs again. */
export const MAX_FILES_AGAIN = 8;

/** How many flaky tests pass a run, over all its stages. */
export const MAX_FLAKY = 3;

/** Stands for a file that failed outside its tests: it didn't load, a hook failed, or an error was caught by nobody. */
export const WHOLE_FILE = "(whole file)";

const testSchema = z.object({
  id: z.string(),
  name: z.string(),
  state: z.enum(["passed", "failed", "skipped"]),
  /** Of a failed test: its errors. */
  output: z.string().optional(),
});
const fileSchema = z.object({
  project: z.string(),
  file: z.string(),
  tests: z.array(testSchema),
  /** When it began and ended, in milliseconds since the epoch. */
  began: z.number(),
  ended: z.number(),
});

/** One run of vitest, as test/helpers/result-reporter.ts writes it. */
export const runSchema = z.object({
  files: z.array(fileSchema),
  /** Errors that belong to no file. */
  stray: z.array(z.string()),
});

/** One npm script of CI: its run, and its failed files run again, each alone. */
export const stageSchema = z.object({
  name: z.string(),
  files: z.array(fileSchema),
  again: z.array(fileSchema),
  /** What no second run can mend. */
  problems: z.array(z.string()),
});

export type TestResult = z.infer<typeof testSchema>;
export type FileResult = z.infer<typeof fileSchema>;
export type RunResult = z.infer<typeof runSchema>;
export type Stage = z.infer<typeof stageSchema>;

/** A test that failed at least once. */
export interface Finding {
  /** `FLAKY file: test`, or `FAILED file: test`. */
  readonly line: string;
  /** What it said when it failed, and how it ended alone. */
  readonly output: string;
}

export interface Verdict {
  readonly flaky: readonly Finding[];
  readonly failed: readonly Finding[];
  readonly problems: readonly string[];
  /** Problems count as failed: a run that fails never says that nothing did. */
  readonly counts: { readonly passed: number; readonly failed: number; readonly skipped: number };
}

/** Why a run of vitest cannot be judged by its tests. `run`: undefined if it left no results. */
export function problemsOf(run: RunResult | undefined, ending: number | string): string[] {
  if (!run) return [`it left no results and ended with ${ending}`];
  if (run.stray.length > 0) return run.stray.map((error) => `an error belongs to no test file: ${error}`);
  const failed = failedFiles(run.files).length;
  if (failed > MAX_FILES_AGAIN) return [`${failed} files failed: more than ${MAX_FILES_AGAIN} are no flake`];
  if (!run.files.some(({ tests }) => tests.some(({ state }) => state !== "skipped"))) return ["no test ran"];
  const expected = failed > 0 ? 1 : 0;
  return ending === expected ? [] : [`it ended with ${ending}, though ${failed} files failed`];
}

export function failedFiles(files: readonly FileResult[]): FileResult[] {
  return files.filter((file) => namesOf(file, "failed").size > 0);
}

/** What all stages so far come to. */
export function judge(stages: readonly Stage[]): Verdict {
  const flaky: Finding[] = [];
  const failed: Finding[] = [];
  for (const stage of stages) {
    for (const first of failedFiles(stage.files)) {
      const again = againOf(stage, first);
      for (const name of new Set([...namesOf(first, "failed"), ...namesOf(again, "failed")])) {
        const isFlaky = passes(name, again);
        const line = `${isFlaky ? "FLAKY" : "FAILED"} ${first.file}: ${name}`;
        const output = `${outputOf(name, first)}\nAlone: ${endOf(name, again)}`;
        (isFlaky ? flaky : failed).push({ line, output });
      }
    }
  }
  const problems = stages.flatMap(({ name, problems }) =>
    problems.map((problem) => `npm run ${name}: ${problem}`),
  );
  if (flaky.length > MAX_FLAKY)
    problems.push(`${flaky.length} tests are flaky: no more than ${MAX_FLAKY} pass`);
  if (stages.length === 0) problems.push("no tests ran");
  return { flaky, failed, problems, counts: countsOf(stages, failed.length + problems.length) };
}

function againOf(stage: Stage, { project, file }: FileResult): FileResult | undefined {
  return stage.again.find((other) => other.project === project && other.file === file);
}

/** A test that is missing or skipped in the second run didn't pass. */
function passes(name: string, again: FileResult | undefined): boolean {
  const [passed, failed] = [namesOf(again, "passed"), namesOf(again, "failed")];
  return name === WHOLE_FILE ? passed.size > 0 && failed.size === 0 : passed.has(name) && !failed.has(name);
}

function namesOf(file: FileResult | undefined, wanted: TestResult["state"]): Set<string> {
  return new Set(file?.tests.filter(({ state }) => state === wanted).map(({ name }) => name));
}

function outputOf(name: string, { tests }: FileResult): string {
  return (
    tests.find((test) => test.name === name && test.state === "failed")?.output ?? "It did not fail at first."
  );
}

function endOf(name: string, again: FileResult | undefined): string {
  if (!again) return "no result";
  const seconds = ((again.ended - again.began) / 1000).toFixed(1);
  if (passes(name, again)) return `passed, the file in ${seconds} s`;
  if (namesOf(again, "failed").has(name)) return `failed again\n${outputOf(name, again)}`;
  return namesOf(again, "skipped").has(name) ? "skipped" : "missing";
}

/** Each test once, as it ended last: what one stage skips, another may run. */
function countsOf(stages: readonly Stage[], failed: number): Verdict["counts"] {
  const files = stages.flatMap((stage) => stage.files.map((file) => againOf(stage, file) ?? file));
  const ids = (wanted: TestResult["state"]) =>
    new Set(files.flatMap(({ tests }) => tests.filter(({ state }) => state === wanted).map(({ id }) => id)));
  const passed = ids("passed");
  const ran = new Set([...passed, ...ids("failed")]);
  return { passed: passed.size, failed, skipped: [...ids("skipped")].filter((id) => !ran.has(id)).length };
}
