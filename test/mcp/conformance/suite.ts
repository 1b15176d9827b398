/** The conformance suite as a process. */
import { execFile } from "node:child_process";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { strangersFile } from "../strangers.ts";

const SUITE = strangersFile("@modelcontextprotocol/conformance/dist/index.js");
const MOST_OUTPUT = 64 * 1024 * 1024;

export interface SuiteRun {
  readonly code: number;
  /** The line of each scenario, by its name, if there were several. */
  readonly scenarios: Readonly<Record<string, string>>;
  /** What it printed last: counts, and what failed. */
  readonly summary: string;
}

/** `visit` is the person who opens the addresses that it prints. Whatever still runs ends with the test. */
export async function runSuite(
  args: readonly string[],
  visit?: (address: string) => Promise<unknown>,
): Promise<SuiteRun> {
  const options = { maxBuffer: MOST_OUTPUT, env: { ...process.env, NO_COLOR: "1" } };
  const running = promisify(execFile)(process.execPath, [SUITE, ...args], options);
  const { child } = running;
  onTestFinished(() => void child.kill());
  let problem: unknown;
  if (visit && child.stdout)
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (!/^https?:\S+$/.test(line)) return;
      visit(line).catch((error: unknown) => {
        problem = error;
        child.kill();
      });
    });
  const { code, stdout } = await running.then(
    ({ stdout }) => ({ code: 0, stdout }),
    (error: { code: number; stdout: string }) => error,
  );
  if (problem !== undefined) throw problem;
  const [, summary = stdout] = /^((?:=== SUMMARY ===|Test Results:)$[\s\S]*)/m.exec(stdout) ?? [];
  const lines = [...summary.matchAll(/^[✓✗~] ([\w-]+): (\d+ passed, \d+ failed)/gm)];
  return { code, summary, scenarios: Object.fromEntries(lines.map(([, name, counts]) => [name, counts])) };
}
