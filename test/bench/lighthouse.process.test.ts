/** What `npm run bench web` says when Lighthouse itself fails. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { lookAt } from "../../bench/web/lighthouse.ts";
import { lighthouseProblem } from "../../bench/web/lighthouse-problem.ts";
import { Problem } from "../../scripts/problem.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";

const PAGE = "http://localhost:8787/fleet";
const UNCHANGED = "bench/web-results.json is as it was before.";

const REPORT = {
  lighthouseVersion: "13.5.0",
  environment: { benchmarkIndex: 2000 },
  categories: {},
  audits: {},
};

describe("when Lighthouse fails", () => {
  let folder: string;
  let profile: string;

  beforeEach(() => {
    folder = makeFolder();
    profile = join(folder, "profile");
    mkdirSync(profile);
    return () => removeFolder(folder);
  });

  /** What is thrown when this program is in Lighthouse's place; `report` is the file that it is asked for. */
  async function problemWith(script: string): Promise<string> {
    const program = join(folder, "lighthouse.mjs");
    const prelude = `
      import { appendFileSync, writeFileSync } from "node:fs";
      appendFileSync(${JSON.stringify(join(folder, "runs"))}, "x");
      const report = process.argv.find((each) => each.startsWith("--output-path=")).slice(14);
    `;
    writeFileSync(program, prelude + script);
    const thrown: unknown = await lookAt(PAGE, profile, program).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(Problem);
    return (thrown as Problem).message;
  }

  test("its own error is told, with what to do, and it is run once", async () => {
    const runtimeError = { code: "NO_NAVSTART", message: "Something went wrong with recording the trace." };
    const said = await problemWith(`
      writeFileSync(report, ${JSON.stringify(JSON.stringify({ ...REPORT, runtimeError }))});
      console.error("Runtime error encountered: Something went wrong");
      process.exit(1);
    `);
    expect(said.split("\n")).toEqual([
      `Lighthouse failed to look at ${PAGE}`,
      "  NO_NAVSTART: Something went wrong with recording the trace.",
      expect.stringMatching(/^A busy machine or browser can cause this: run it again/),
      UNCHANGED,
    ]);
    expect(readFileSync(join(folder, "runs"), "utf8")).toBe("x");
  });

  test("without a report its last words are told, and no stack", async () => {
    const said = await problemWith(`
      console.error("Unable to connect to Chrome\\n    at somewhere (file.js:1:1)");
      process.exit(1);
    `);
    expect(said).toContain("\n  Unable to connect to Chrome\nCheck that Chromium starts");
    expect(said).not.toContain("    at ");
    expect(await problemWith("process.exit(3);")).toContain("\n  It ended with 3.\n");
    expect(await problemWith(`writeFileSync(report, "{}");`)).toContain(
      "It wrote no report that can be read.",
    );
  });

  test.each([
    [{ killed: true, signal: "SIGTERM" }, undefined, /It did not finish in time\.\nA busy machine/],
    [
      { code: 1 },
      { code: "ERRORED_DOCUMENT_REQUEST", message: "Status 500" },
      /Check that the app's page loads/,
    ],
    [
      { code: 1 },
      { code: "CRI_TIMEOUT", message: "Timed out connecting to Chrome" },
      /Check that Chromium starts/,
    ],
    [
      { code: 1 },
      { code: "NO_FCP", message: "Nothing was painted. (NO_FCP)" },
      /^ {2}Nothing was painted\. \(NO_FCP\)$/m,
    ],
  ])("%j, %j", (ended, error, words) => {
    expect(lighthouseProblem(PAGE, ended, error).message).toMatch(words);
  });
});
