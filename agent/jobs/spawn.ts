/** Starts a command as a job, detached from the agent: it continues when the agent ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { open, writeFile } from "node:fs/promises";
import { Socket } from "node:net";
import path from "node:path";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import { markedEnvironment } from "../platform/environment.ts";
import type { Platform, Shell, Wrap } from "../platform/platform.ts";
import { SYSTEM_PATH } from "../platform/posix.ts";

/** The command's stdin, in the job's directory; deleted when the command has ended. */
export const STDIN_FILE = "stdin";

/** A shell that is ready to run a command. */
export interface Run {
  readonly shell: Shell;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

interface Start extends Run {
  readonly directory: string;
  /** Whether there is a `STDIN_FILE`; otherwise stdin is empty. */
  readonly readsStdin: boolean;
}

export interface Started {
  readonly pid: number;
  /** Resolves when the command has ended. */
  readonly commandEnded: Promise<void>;
  /** Resolves when the process that writes its log has ended, too; with the exit code of the process, if that is the command's. */
  readonly allEnded: Promise<number | null>;
  /** Stops watching. */
  release(): void;
}

/** Throws MatrxError if the system cannot start it. */
export async function startCommand({
  shell,
  args,
  directory,
  cwd,
  env,
  readsStdin,
}: Start): Promise<Started> {
  try {
    await using log = shell.logsItself ? undefined : await open(path.join(directory, "log"), "a", 0o600);
    await using stdin = readsStdin ? await open(path.join(directory, STDIN_FILE)) : undefined;
    const from = stdin?.fd ?? "ignore";
    const out = log?.fd ?? "ignore";
    // Its own group and session, and no terminal.
    const child = spawn(shell.file, args, {
      cwd,
      env,
      detached: true,
      windowsHide: true,
      stdio: shell.logsItself ? [from, out, out, "pipe"] : [from, out, out],
    });
    const started = watched(child);
    await once(child, "spawn");
    return started;
  } catch (cause) {
    throw cannotStart(shell.file, cause);
  }
}

/** Throws MatrxError if the shell of this system cannot run in a sandbox. */
export async function confinedRun(
  platform: Platform,
  { id, directory, wrap }: { readonly id: string; readonly directory: string; readonly wrap: Wrap },
): Promise<Run> {
  const shell = platform.shell({ PATH: SYSTEM_PATH }, existsSync);
  const run = shell.confine?.(directory, wrap);
  if (!run) throw cannotConfine(platform);
  for (const { name, content } of run.files) {
    await writeFile(path.join(directory, name), content, { mode: 0o600 });
  }
  // The command's own directory is for the sandbox to enter: no path of it exists out here for certain.
  return { shell, args: run.args, cwd: directory, env: { ...run.env, ...markedEnvironment(id) } };
}

function watched(child: ChildProcess): Started {
  const witness = child.stdio[3] instanceof Socket ? child.stdio[3] : undefined;
  const allEnded = new Promise<number | null>((resolve) => {
    // With a witness, the last process to end is the one that wrote the log: its exit code is not the command's.
    child.once("exit", (code) => resolve(witness ? null : code));
  });
  const commandEnded = witness
    ? new Promise<void>((resolve) => {
        witness.once("data", () => resolve()).once("close", () => resolve());
        witness.on("error", () => undefined);
        witness.unref();
      })
    : allEnded.then(() => undefined);
  child.unref();
  return { pid: child.pid ?? 0, commandEnded, allEnded, release: () => void witness?.destroy() };
}

function cannotConfine({ name }: Platform): MatrxError {
  return toolError("UNAVAILABLE", `Commands can't be confined on ${name} yet`, {
    hint: "Use the file tools, or the owner's own token",
  });
}

function cannotStart(file: string, cause: unknown): MatrxError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
  return toolError("TOOL_EXECUTION_FAILED", `The shell ${file} could not be started: ${code}`, {
    hint: "Check that the working directory and the shell exist, and that the system can start more processes",
    details: { shell: file, system_code: code },
    cause,
  });
}
