/** What `matrx doctor` checks, and how it is shown. */
import { errorInfo, shapeOf } from "@matrx/shared/errors.ts";
import { machineChecks } from "../../doctor/machine.ts";
import { type Check, partChecks, type Result } from "../../doctor/parts.ts";
import { currentPlatform } from "../../platform/current.ts";
import { agentHome } from "../agent-home.ts";
import type { CallerOptions } from "../client/credentials.ts";
import { plain, printJson, styled } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";
import { mountChecks } from "./mount-checks.ts";
import { checkHops, type Hop } from "./status-hops.ts";

export interface DoctorOptions extends CallerOptions {
  json?: boolean;
}

type Group = "machine" | "parts" | "mounts" | "hops";

const TITLES: Record<Group, string> = {
  machine: "This machine",
  parts: "Optional parts",
  mounts: "Mounted MCP servers",
  hops: "From here to a tool",
};

const MARKS = {
  ok: styled("green", "✓"),
  missing: styled("yellow", "○"),
  failed: styled("red", "✗"),
  untried: styled("dim", "–"),
};

export async function runDoctor(device: string | undefined, options: DoctorOptions): Promise<void> {
  const platform = currentPlatform();
  const found: Record<Group, Result[]> = {
    machine: await examine(machineChecks(agentHome(), platform)),
    parts: await withProgress("Checking the optional parts", examine(partChecks(platform))),
    mounts: await mountChecks(agentHome()),
    hops: (await withProgress("Checking each step", checkHops(device, options))).map(resultOf),
  };
  const failed = Object.values(found)
    .flat()
    .filter(({ state }) => state === "failed");
  if (options.json) printJson({ ok: failed.length === 0, ...found });
  else print(found, failed.length);
  process.exitCode = failed.length > 0 ? errorInfo(failed[0]?.error?.code ?? "UNAVAILABLE").exit : 0;
}

function resultOf({ hop, ok, fact, ms = 0, error }: Hop): Result {
  const state = ok === undefined ? "untried" : ok ? "ok" : "failed";
  return { name: hop, state, fact, ms, hint: error?.hint, ...(error && { error }) };
}

function print(found: Record<Group, Result[]>, failed: number): void {
  for (const group of ["machine", "parts", "mounts", "hops"] as const) {
    if (found[group].length === 0) continue;
    console.log(styled("bold", TITLES[group]));
    for (const result of found[group]) printResult(result);
    console.log("");
  }
  const missing = found.parts.filter(({ state }) => state === "missing").length;
  const parts =
    missing === 0 ? "" : ` ${missing} optional ${missing === 1 ? "part is" : "parts are"} missing (○).`;
  console.log(failed === 0 ? `Everything required works.${parts}` : `${failed} failed (✗).${parts}`);
}

function printResult({ name, state, fact, hint }: Result): void {
  console.log(`  ${MARKS[state]} ${name.padEnd(11)} ${plain(fact)}`);
  if (hint) console.log(`    ${"".padEnd(11)} ${styled("dim", plain(hint))}`);
}

export async function examine(checks: readonly Check[]): Promise<Result[]> {
  const results: Result[] = [];
  for (const check of checks) results.push(await look(check));
  return results;
}

async function look({ name, look: find }: Check): Promise<Result> {
  const began = performance.now();
  const ms = () => Math.round(performance.now() - began);
  try {
    return { name, ...(await find()), ms: ms() };
  } catch (cause) {
    const error = shapeOf(cause, "agent", crypto.randomUUID().slice(0, 8));
    return { name, state: "failed", fact: error.message, hint: error.hint, ms: ms(), error };
  }
}
