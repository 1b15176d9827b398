/** schemathesis, which makes requests from an OpenAPI document and checks the answers: found, or installed from PyPI once. */
import { execFile } from "node:child_process";
import { createReadStream, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import type { TestOptions } from "vitest";
import * as z from "zod";
import { ROOT } from "../../scripts/tree.ts";
import { needs } from "../helpers/parts.ts";

const run = promisify(execFile);

const VERSION = "4.32.5";
/** A Python environment of our own, where nothing is committed and `npm ci` clears up. */
const VENV = join(ROOT, `node_modules/.cache/schemathesis-${VERSION}`);
const PROGRAMS = join(VENV, process.platform === "win32" ? "Scripts" : "bin");
const INSTALLED = join(VENV, "installed");
const INSTALL_WITHIN = 180_000;

/** The program, and the options of tests with it. */
export async function findSchemathesis(): Promise<{ program: string; options: TestOptions }> {
  const installed = join(PROGRAMS, "schemathesis");
  if (existsSync(INSTALLED)) return { program: installed, options: {} };
  if (await isOnPath()) return { program: "schemathesis", options: {} };
  try {
    await install();
    return { program: installed, options: {} };
  } catch (cause) {
    rmSync(VENV, { recursive: true, force: true });
    const said = cause instanceof Error ? cause.message.trim().split("\n").at(-1) : String(cause);
    const what = `fuzzing needs schemathesis ${VERSION}: it takes Python 3 with venv and pip, and PyPI (${said})`;
    return { program: installed, options: needs(false, what) };
  }
}

async function isOnPath(): Promise<boolean> {
  try {
    const { stdout } = await run("schemathesis", ["--version"]);
    return stdout.includes(VERSION);
  } catch {
    return false;
  }
}

async function install(): Promise<void> {
  const python = process.platform === "win32" ? "python" : "python3";
  await run(python, ["-m", "venv", "--clear", VENV], { timeout: INSTALL_WITHIN });
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1"];
  await run(join(PROGRAMS, "python"), [...pip, `schemathesis==${VERSION}`], { timeout: INSTALL_WITHIN });
  writeFileSync(INSTALLED, VERSION);
}

export interface Fuzzing {
  /** The OpenAPI document, as it is to be fuzzed. */
  readonly document: unknown;
  /** Where the server is. */
  readonly url: string;
  readonly token: string;
  /** A folder for what the program reads and writes. */
  readonly folder: string;
  /** Made requests for each operation, beside those for each limit of each parameter. */
  readonly examples: number;
  /** Undefined: the same requests each time. */
  readonly seed?: number;
  /** Milliseconds. */
  readonly within: number;
}

export interface Findings {
  /** What went wrong, in schemathesis' words; empty: nothing. */
  readonly failures: string;
  /** Operations that were fuzzed, as `GET /path`, and whether one of their requests was answered by success. */
  readonly operations: ReadonlyMap<string, boolean>;
}

/** Fuzzes a server. What it finds is no error here. */
export async function fuzz(program: string, fuzzing: Fuzzing): Promise<Findings> {
  const { document, url, token, folder, examples, seed, within } = fuzzing;
  const [config, schema, report] = ["schemathesis.toml", "openapi.json", "report.ndjson"].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  writeFileSync(config, configOf(token), { mode: 0o600 });
  writeFileSync(schema, JSON.stringify(document));
  const args = ["--config-file", config, "run", schema, "--url", url, "--no-color", "--warnings", "off"];
  args.push("--phases", "examples,coverage,fuzzing", "--max-examples", String(examples));
  // Python 3.11's parser fails at times when two threads use it, and requests in turn are the same each time.
  args.push("--workers", "1");
  args.push("--continue-on-failure", "--exclude-checks", Object.keys(NOT_CHECKED).join(","));
  args.push(...(seed === undefined ? ["--generation-deterministic"] : ["--seed", String(seed)]));
  args.push("--report", "ndjson", "--report-ndjson-path", report);
  const failures = await run(program, args, { cwd: folder, timeout: within, maxBuffer: 64 * 1024 ** 2 }).then(
    () => "",
    (error: { code?: unknown; stdout?: string; stderr?: string }) => {
      if (error.code !== 1) throw error;
      return `${error.stdout}${error.stderr}`;
    },
  );
  return { failures, operations: await operationsIn(report) };
}

/**
 * Settings. The token is in a file, because an argument would show it in the list of processes. 500 is a fault of ours;
 * 502, 503 and 504 tell of a device, and only where they are described.
 */
function configOf(token: string): string {
  return [
    `headers = { Authorization = ${JSON.stringify(`Bearer ${token}`)} }`,
    "[checks.not_a_server_error]",
    'expected-statuses = ["2xx", "3xx", "4xx", 502, 503, 504]',
    "",
  ].join("\n");
}

/** Checks that would call right answers wrong, and why they are right. */
const NOT_CHECKED = {
  positive_data_acceptance: "what fits its schema may still name a file that is not there",
  unsupported_method: "a method that a path does not have is answered as an unknown path, 404",
} as const;

const scenarioSchema = z.object({
  ScenarioFinished: z.object({
    recorder: z.object({
      label: z.string(),
      interactions: z
        .record(
          z.string(),
          z.object({
            request: z.object({ method: z.string() }),
            response: z.object({ status_code: z.int() }).nullable(),
          }),
        )
        .default({}),
    }),
  }),
});

/** Reads the report by lines: a long one is larger than memory should hold. */
async function operationsIn(report: string): Promise<Map<string, boolean>> {
  const found = new Map<string, boolean>();
  for await (const line of createInterface({ input: createReadStream(report) })) {
    if (!line.startsWith('{"ScenarioFinished"')) continue;
    const { label, interactions } = scenarioSchema.parse(JSON.parse(line)).ScenarioFinished.recorder;
    // Among them are requests with methods that the operation does not have.
    const succeeded = Object.values(interactions).some(
      ({ request, response }) =>
        label.startsWith(`${request.method} `) && response !== null && response.status_code < 300,
    );
    found.set(label, found.get(label) === true || succeeded);
  }
  return found;
}
