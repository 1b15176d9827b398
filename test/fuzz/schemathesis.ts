/** schemathesis, which makes requests from an OpenAPI document and checks the answers. */
import { execFile } from "node:child_process";
import { createReadStream, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import * as z from "zod";

const run = promisify(execFile);

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
    // 412 is tus's answer to another version of it.
    "[checks.negative_data_rejection]",
    'expected-statuses = [400, 401, 403, 404, 405, 406, 409, 412, 415, 422, 428, 429, "5xx"]',
    // A tool's input is read with tolerance: null is absent, and "2" is 2.
    "[[operations]]",
    'include-path-regex = "/tools/"',
    "checks.negative_data_rejection.enabled = false",
    "",
  ].join("\n");
}

/** Checks that would call right answers wrong, and why they are right. */
const NOT_CHECKED = {
  ignored_auth:
    "after many wrong credentials from one address the answer is 429; other tests try every route",
  positive_data_acceptance: "what fits its schema may still name a file that is not there",
  unsupported_method: "a path such as tools/list is a tool's too, and takes its methods besides",
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
