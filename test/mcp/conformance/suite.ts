/** The conformance suite as a process. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { strangersFile } from "../strangers.ts";

const SUITE = strangersFile("@modelcontextprotocol/conformance/dist/index.js");
const MOST_OUTPUT = 64 * 1024 * 1024;

export interface SuiteRun {
  readonly code: number;
  /** The line of each scenario, by its name. */
  readonly scenarios: Readonly<Record<string, string>>;
  /** What it printed last. */
  readonly summary: string;
}

export async function runSuite(args: readonly string[]): Promise<SuiteRun> {
  const options = { maxBuffer: MOST_OUTPUT, env: { ...process.env, NO_COLOR: "1" } };
  const { code, stdout } = await promisify(execFile)(process.execPath, [SUITE, ...args], options).then(
    ({ stdout }) => ({ code: 0, stdout }),
    (error: { code: number; stdout: string }) => error,
  );
  const summary = stdout.slice(stdout.lastIndexOf("=== SUMMARY ==="));
  const lines = [...summary.matchAll(/^[✓✗~] ([\w-]+): (\d+ passed, \d+ failed)/gm)];
  return { code, summary, scenarios: Object.fromEntries(lines.map(([, name, counts]) => [name, counts])) };
}
