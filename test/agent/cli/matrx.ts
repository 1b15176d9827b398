/** The command line as a process of its own. Whatever a test starts is ended, by its own process id. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { MATRX_BIN } from "../../../scripts/matrx-bin.ts";

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
  /** What it wrote to stdout, as it was. */
  bytes: Buffer;
}

export interface RunOptions {
  home: string;
  env?: Record<string, string>;
  stdin?: string | Uint8Array;
  /** A Node and the file of the program, in place of the one that was built. */
  program?: readonly [node: string, file: string];
}

/** Starts it, with nothing of the tester's own configuration. */
export function startMatrx(args: readonly string[], { home, env, program }: RunOptions): ChildProcess {
  const [node, file] = program ?? [process.execPath, MATRX_BIN];
  const { MATRX_RELAY: _, MATRX_TOKEN_FILE: __, ...inherited } = process.env;
  const child = spawn(node, [file, ...args], {
    // Named as protected, or it is noted in the tester's home folder.
    env: { ...inherited, MATRX_HOME: home, MATRX_PROTECTED: home, NO_COLOR: "1", ...env },
    stdio: "pipe",
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  return child;
}

/** Runs it to its end. */
export async function runMatrx(args: readonly string[], options: RunOptions): Promise<Ended> {
  const child = startMatrx(args, options);
  const ended = endOf(child);
  child.stdin?.end(options.stdin ?? "");
  return ended;
}

export async function endOf(child: ChildProcess): Promise<Ended> {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout?.on("data", (data) => out.push(data));
  child.stderr?.on("data", (data) => err.push(data));
  const [code] = (await once(child, "close")) as [number | null];
  const bytes = Buffer.concat(out);
  return { code, bytes, stdout: bytes.toString(), stderr: Buffer.concat(err).toString() };
}

/** Reads the JSON lines of a running one until one fits. */
export async function lineOf(child: ChildProcess, fits: (line: Record<string, unknown>) => boolean) {
  if (!child.stdout) throw new Error("no stdout");
  const lines = createInterface({ input: child.stdout });
  for await (const text of lines) {
    const line = JSON.parse(text) as Record<string, unknown>;
    if (fits(line)) return line;
  }
  throw new Error("it ended without saying so");
}
