/** A program with a pseudo terminal, or with pipes where this machine's Node cannot load the library for them. */
import { spawn as spawnWithPipes } from "node:child_process";
import type { CreateRequest } from "../protocol.ts";

export interface Pty {
  readonly pid: number;
  write(bytes: Buffer): void;
  resize(cols: number, rows: number): void;
  /** Stops and goes on reading; the program waits meanwhile. */
  pause(): void;
  resume(): void;
  kill(signal: NodeJS.Signals): void;
}

export interface PtyEvents {
  onOutput(bytes: Buffer): void;
  onExit(code: number | null, signal: number | null): void;
}

type Program = Pick<CreateRequest, "file" | "args" | "cwd" | "env" | "cols" | "rows">;
export type OpenPty = (program: Program, events: PtyEvents) => Pty;

/** The best that this machine has. */
export async function findPty(): Promise<{ readonly open: OpenPty; readonly pty: boolean }> {
  try {
    const { spawn } = await import("@lydell/node-pty");
    return { pty: true, open: withTerminal(spawn) };
  } catch {
    return { pty: false, open: withPipes };
  }
}

type SpawnPty = typeof import("@lydell/node-pty").spawn;

function withTerminal(spawn: SpawnPty): OpenPty {
  return ({ file, args, cwd, env, cols, rows }, { onOutput, onExit }) => {
    const name = "xterm-256color";
    const pty = spawn(file, args, { name, cols, rows, cwd, env, encoding: null });
    // Without an encoding it gives bytes, whatever its types say.
    pty.onData((data) => onOutput(data as unknown as Buffer));
    pty.onExit(({ exitCode, signal }) => onExit(signal ? null : exitCode, signal || null));
    return {
      pid: pty.pid,
      write: (bytes) => pty.write(bytes),
      resize: (columns, lines) => pty.resize(columns, lines),
      pause: () => pty.pause(),
      resume: () => pty.resume(),
      kill: (signal) => killGroup(pty.pid, signal),
    };
  };
}

const withPipes: OpenPty = ({ file, args, cwd, env }, { onOutput, onExit }) => {
  const child = spawnWithPipes(file, args, { cwd, env, detached: true, stdio: "pipe", windowsHide: true });
  const outputs = [child.stdout, child.stderr];
  for (const output of outputs) output.on("data", onOutput);
  child.stdin.on("error", () => undefined);
  child.on("error", () => onExit(1, null));
  child.on("close", (code) => onExit(code, code === null ? 1 : null));
  return {
    pid: child.pid ?? -1,
    write: (bytes) => void child.stdin.write(bytes),
    resize: () => undefined,
    pause: () => outputs.forEach((output) => void output.pause()),
    resume: () => outputs.forEach((output) => void output.resume()),
    kill: (signal) => killGroup(child.pid ?? -1, signal),
  };
};

/** The shell leads a group of its own; on Windows there are none. */
function killGroup(pid: number, signal: NodeJS.Signals): void {
  if (pid <= 0) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch {
    // It has ended.
  }
}
