/** Starts a program detached from the agent, without input or output, and checks whether it fails at once. */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { withOpenFiles } from "../platform/open-files.ts";
import type { LaunchCommand } from "../platform/platform.ts";
import { findProgram } from "../platform/run-program.ts";
import { toolName } from "../text/tool-names.ts";
import { desktopError } from "./errors.ts";
import type { Surroundings } from "./surroundings.ts";

export interface Launched {
  /** Its name, without folders. */
  readonly program: string;
  readonly pid: number;
  /** Whether it ended without an error while it was watched. */
  readonly ended: boolean;
  /** Whether it only passes things on to another program, whose success is not known. */
  readonly handedOver: boolean;
}

/** Starts the first command whose program exists. Throws MatrxError. */
export async function launchFirst(
  commands: readonly LaunchCommand[],
  surroundings: Surroundings,
): Promise<Launched> {
  for (const command of commands) {
    const program = findProgram(command.program, surroundings.env);
    if (program) return await launch({ ...command, program }, surroundings);
  }
  const names = commands.map(({ program }) => program).join(", ");
  throw desktopError(
    `None of these programs was found: ${names}`,
    "Check the name, or install it: the agent looks on its PATH, and for callers with limits in the system's folders",
    { reason: "NO_PROGRAM", programs: commands.map(({ program }) => program) },
  );
}

async function launch(command: LaunchCommand, { env, cwd }: Surroundings): Promise<Launched> {
  const { program: file, args, watchMs, handsOver, detached } = command;
  const program = path.basename(file);
  const began = performance.now();
  const child = await started(file, args, { env, cwd, detached, stdio: "ignore", windowsHide: true });
  const exit = new Promise<End>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  child.unref();
  const watch = new AbortController();
  const early = await Promise.race([
    exit,
    sleep(watchMs, undefined, { signal: watch.signal }).catch(() => undefined),
  ]);
  watch.abort();
  if (early && early.code !== 0) throw endedAtOnce(program, early, performance.now() - began);
  return { program, pid: child.pid ?? 0, ended: early !== undefined, handedOver: handsOver };
}

async function started(file: string, args: readonly string[], options: SpawnOptions): Promise<ChildProcess> {
  try {
    const program = withOpenFiles({ file, args });
    const child = spawn(program.file, program.args, options);
    await once(child, "spawn");
    return child;
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
    const program = path.basename(file);
    throw desktopError(
      `${program} could not be started: ${code}`,
      `Check that the agent's user can run it, and that ${options.cwd} exists`,
      { program, system_code: code },
    );
  }
}

interface End {
  readonly code: number | null;
  readonly signal: string | null;
}

/** Exit codes of xdg-open, by its manual. */
const XDG_OPEN: Partial<Record<number, string>> = {
  2: "a file does not exist",
  3: "no program was found to open it",
  4: "the program that opens it failed",
};

function endedAtOnce(program: string, end: End, ms: number) {
  const how = end.signal ? `by ${end.signal}` : `with exit code ${end.code}`;
  const known = program === "xdg-open" ? XDG_OPEN[end.code ?? 0] : undefined;
  return desktopError(
    `${program} ended ${how} after ${Math.round(ms)} ms${known ? `: ${known}` : ""}`,
    `Run it with ${toolName("Bash")} to see its output, or look at the screen with ${toolName("Screenshot")}`,
    { program, exit_code: end.code, ...(end.signal && { signal: end.signal }) },
  );
}
