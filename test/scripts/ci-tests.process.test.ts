import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  type FileResult,
  judge,
  MAX_FILES_AGAIN,
  problemsOf,
  type Stage,
  type TestResult,
  WHOLE_FILE,
} from "../../scripts/ci/verdict.ts";
import { ROOT } from "../../scripts/tree.ts";
import { temporaryFolder } from "../helpers/folder.ts";

type States = Record<string, TestResult["state"]>;

function file(name: string, states: States): FileResult {
  const tests = Object.entries(states).map(([test, state]) => ({ id: `${name} ${test}`, name: test, state }));
  return { project: "node", file: name, tests, began: 0, ended: 1000 };
}

/** A stage with one file, which ran as `first` and then alone as `second`. */
function stage(first: States, second?: States): Stage {
  return {
    name: "test",
    files: [file("a.test.ts", first)],
    again: second ? [file("a.test.ts", second)] : [],
    problems: [],
  };
}

/** The same test in files of their own, flaky in each. */
function flakyFiles(count: number): Stage {
  const names = Array.from({ length: count }, (_, index) => `${index}.test.ts`);
  return {
    name: "test",
    files: names.map((name) => file(name, { t: "failed" })),
    again: names.map((name) => file(name, { t: "passed" })),
    problems: [],
  };
}

const CASES: { what: string; stages: Stage[]; lines: string[]; counts: string }[] = [
  {
    what: "all passed, and what is skipped here ran there",
    stages: [stage({ t: "passed", r: "skipped" }), stage({ t: "skipped", r: "passed", s: "skipped" })],
    lines: [],
    counts: "2 0 1",
  },
  {
    what: "one flaky test",
    stages: [stage({ t: "failed", u: "passed" }, { t: "passed", u: "passed" })],
    lines: ["FLAKY a.test.ts: t"],
    counts: "2 0 0",
  },
  {
    what: "three flaky tests",
    stages: [flakyFiles(3)],
    lines: ["FLAKY 0.test.ts: t", "FLAKY 1.test.ts: t", "FLAKY 2.test.ts: t"],
    counts: "3 0 0",
  },
  {
    what: "four flaky tests, in two stages",
    stages: [flakyFiles(3), stage({ t: "failed" }, { t: "passed" })],
    lines: ["FLAKY 0.test.ts: t", "FLAKY 1.test.ts: t", "FLAKY 2.test.ts: t", "FLAKY a.test.ts: t"],
    counts: "4 1 0",
  },
  {
    what: "a test that fails twice",
    stages: [stage({ t: "failed", u: "failed" }, { t: "failed", u: "passed" })],
    lines: ["FLAKY a.test.ts: u", "FAILED a.test.ts: t"],
    counts: "1 1 0",
  },
  {
    what: "a test that fails only alone",
    stages: [stage({ t: "failed", u: "passed" }, { t: "passed", u: "failed" })],
    lines: ["FLAKY a.test.ts: t", "FAILED a.test.ts: u"],
    counts: "1 1 0",
  },
  {
    what: "a test that is missing when its file runs alone",
    stages: [stage({ t: "failed" }, { other: "passed" })],
    lines: ["FAILED a.test.ts: t"],
    counts: "1 1 0",
  },
  {
    what: "a test that is skipped when its file runs alone",
    stages: [stage({ t: "failed" }, { t: "skipped", u: "passed" })],
    lines: ["FAILED a.test.ts: t"],
    counts: "1 1 1",
  },
  {
    what: "a file that did not run again",
    stages: [stage({ t: "failed" })],
    lines: ["FAILED a.test.ts: t"],
    counts: "0 1 0",
  },
  {
    what: "a file that loads the second time",
    stages: [stage({ [WHOLE_FILE]: "failed" }, { t: "passed" })],
    lines: ["FLAKY a.test.ts: (whole file)"],
    counts: "1 0 0",
  },
  {
    what: "a file that loads the second time, to skip all",
    stages: [stage({ [WHOLE_FILE]: "failed" }, { t: "skipped" })],
    lines: ["FAILED a.test.ts: (whole file)"],
    counts: "0 1 1",
  },
  {
    what: "a crash",
    stages: [{ ...stage({ t: "passed" }), problems: ["it left no results"] }],
    lines: [],
    counts: "1 1 0",
  },
  { what: "no stage", stages: [], lines: [], counts: "0 1 0" },
];

test.each(CASES)("$what", ({ stages, lines, counts }) => {
  const { flaky, failed, counts: found } = judge(stages);
  expect([...flaky, ...failed].map(({ line }) => line)).toEqual(lines);
  expect(Object.values(found).join(" ")).toBe(counts);
});

describe("what no second run can mend", () => {
  const passed = [file("a.test.ts", { t: "passed" })];
  const failed = [file("a.test.ts", { t: "failed" })];
  const many = Array.from({ length: MAX_FILES_AGAIN + 1 }, (_, index) =>
    file(`${index}.test.ts`, { t: "failed" }),
  );

  test.each([
    ["nothing: all passed", { files: passed, stray: [] }, 0, []],
    ["nothing: one file failed", { files: failed, stray: [] }, 1, []],
    ["a crash", undefined, "SIGKILL", ["it left no results and ended with SIGKILL"]],
    ["a crash at the end", { files: failed, stray: [] }, "SIGKILL", [expect.stringContaining("SIGKILL")]],
    ["a failure of no file", { files: passed, stray: [] }, 1, [expect.stringContaining("ended with 1")]],
    [
      "an error of no file",
      { files: passed, stray: ["boom"] },
      1,
      [expect.stringMatching(/no test file: boom/)],
    ],
    ["no files", { files: [], stray: [] }, 0, ["no test ran"]],
    ["all skipped", { files: [file("a.test.ts", { t: "skipped" })], stray: [] }, 0, ["no test ran"]],
    [
      "too many files",
      { files: many, stray: [] },
      1,
      [expect.stringMatching(/^9 files failed: more than 8/)],
    ],
  ])("%s", (_, run, ending, problems) => {
    expect(problemsOf(run, ending)).toEqual(problems);
  });
});

/** Code of a file that sees whether it runs again. */
function seesAgain(what: string): string {
  return `
    import { existsSync, writeFileSync } from "node:fs";
    const again = existsSync("${what}.mark");
    writeFileSync("${what}.mark", "");
  `;
}

test("failed files run once more, alone, and what passes then is flaky", { timeout: 120_000 }, () => {
  const folder = temporaryFolder();
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const vitest = `"${process.execPath}" "${join(ROOT, "node_modules/vitest/vitest.mjs")}" run`;
  const scripts = { test: vitest, "test:root": `${vitest} never`, "test:mcp": "exit 69", lost: "exit 3" };
  write("package.json", JSON.stringify({ type: "module", scripts }));
  const reporters = [join(ROOT, "test/helpers/result-reporter.ts"), "default"];
  const project = { name: "one", globals: true, include: ["*.test.js"], pool: "threads" };
  const config = { test: { reporters, projects: [{ test: project }] } };
  write("vitest.config.js", `export default ${JSON.stringify(config)};`);
  write("fine.test.js", `test("fine", () => {}); test.skip("later", () => {});`);
  write("once.test.js", `${seesAgain("once")} test("once", () => expect(again).toBe(true));`);
  const boom = `if (!again) setTimeout(() => { throw new Error("boom") });`;
  const wait = "await new Promise((done) => setTimeout(done, 50));";
  write("outside.test.js", `${seesAgain("outside")} ${boom} ${wait} test("inside", () => {});`);
  const ci = (...args: string[]) => {
    const { status, stdout } = spawnSync(process.execPath, [join(ROOT, "scripts/ci-tests.ts"), ...args], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, NO_COLOR: "1" },
    });
    return { status, stdout };
  };

  const { status, stdout } = ci("run", "results", "test");
  expect(stdout).toMatch(/^FLAKY once\.test\.js: once\nAssertionError: expected false to be true/m);
  expect(stdout).toMatch(/^FLAKY outside\.test\.js: \(whole file\)\nError: boom\n/m);
  expect(stdout.match(/^Alone: passed, the file in \d+\.\d s$/gm)).toHaveLength(2);
  expect(status).toBe(0);
  expect(ci("run", "results", "test:mcp").status).toBe(69);
  const green = ci("summary", "results");
  expect(green.stdout).toMatch(/^test one +\d\.\d +\d\.\d +3$/m);
  expect(green.stdout).toMatch(/\n\nFLAKY once.*\nFLAKY outside.*\n3 passed, 0 failed, 1 skipped\n$/);
  expect(green.status).toBe(0);

  write("never.test.js", `throw new Error("not ever")`);
  const never = ci("run", "results", "test:root");
  expect(never.stdout).toMatch(/^FAILED never\.test\.js: \(whole file\)\nError: not ever\n/m);
  expect(never.stdout).toMatch(/^Alone: failed again\nError: not ever$/m);
  expect(never.status).toBe(1);
  expect(ci("run", "results", "lost").stdout).toContain("it left no results and ended with 3");
  const red = ci("summary", "results");
  expect(red.stdout).toMatch(/\n3 passed, 2 failed, 1 skipped\n$/);
  expect(red.status).toBe(1);
});
