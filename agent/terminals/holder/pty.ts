/** A program with a pseudo terminal, or with pipes where this machine's Node cannot load the library for them. */
import { spawn as spawnWithPipes } from "node:child_process";
import { once } from "node:events";
import type { Writable } from "node:stream";
import type { ReadStream } from "node:tty";
import { withOpenFiles } from "../../platform/open-files.ts";
import { type CreateRequest, TERMINAL_LIMITS } from "../protocol.ts";
import { PtyInput } from "./pty-input.ts";
import { readRest } from "./pty-rest.ts";

/** What is typed into a program, which may not read it. */
export interface TypedInput {
  /** Whether so much waits to be read that no more should come. */
  readonly isFull: boolean;
  write(bytes: Buffer): void;
  /** Resolves when it is not full, or its program has ended. */
  drained(): Promise<void>;
}

export interface Pty {
  readonly pid: number;
  readonly input: TypedInput;
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
type LibraryPty = ReturnType<SpawnPty>;

/** What its types leave out: on Unix it has a descriptor, and a stream that reads it. */
type UnixPty = LibraryPty & { readonly fd: number; readonly _socket: ReadStream };

function withTerminal(spawn: SpawnPty): OpenPty {
  return ({ file, args, cwd, env, cols, rows }, { onOutput, onExit }) => {
    const name = "xterm-256color";
    const started = withOpenFiles({ file, args });
    const pty = spawn(started.file, [...started.args], { name, cols, rows, cwd, env, encoding: null });
    // Without an encoding it gives bytes, whatever its types say.
    pty.onData((data) => onOutput(data as unknown as Buffer));
    pty.onExit(({ exitCode, signal }) => onExit(signal ? null : exitCode, signal || null));
    return {
      pid: pty.pid,
      input: inputOf(pty, onOutput),
      resize: (columns, lines) => pty.resize(columns, lines),
      pause: () => pty.pause(),
      resume: () => pty.resume(),
      kill: (signal) => killGroup(pty.pid, signal),
    };
  };
}

function inputOf(pty: LibraryPty, onOutput: PtyEvents["onOutput"]): TypedInput {
  // The library bounds nothing there either; written, not run.
  if (process.platform === "win32")
    return { isFull: false, write: (bytes) => pty.write(bytes), drained: async () => undefined };
  const { fd, _socket } = pty as UnixPty;
  const input = new PtyInput(fd);
  readRest(_socket, fd, { onOutput, letGo: () => input.close() });
  return input;
}

const withPipes: OpenPty = ({ file, args, cwd, env }, { onOutput, onExit }) => {
  const started = withOpenFiles({ file, args });
  const child = spawnWithPipes(started.file, started.args, {
    cwd,
    env,
    detached: true,
    stdio: "pipe",
    windowsHide: true,
  });
  const outputs = [child.stdout, child.stderr];
  for (const output of outputs) output.on("data", onOutput);
  child.stdin.on("error", () => undefined);
  child.on("error", () => onExit(1, null));
  child.on("close", (code) => onExit(code, code === null ? 1 : null));
  return {
    pid: child.pid ?? -1,
    input: pipeInput(child.stdin),
    resize: () => undefined,
    pause: () => outputs.forEach((output) => void output.pause()),
    resume: () => outputs.forEach((output) => void output.resume()),
    kill: (signal) => killGroup(child.pid ?? -1, signal),
  };
};

function pipeInput(stdin: Writable): TypedInput {
  return {
    get isFull() {
      return stdin.writableLength > TERMINAL_LIMITS.inputBytes;
    },
    write: (bytes) => void stdin.write(bytes),
    drained: async () => {
      while (stdin.writableLength > TERMINAL_LIMITS.inputBytes && !stdin.destroyed) {
        const decided = new AbortController();
        const { signal } = decided;
        await Promise.race([once(stdin, "drain", { signal }), once(stdin, "close", { signal })]);
        decided.abort();
      }
    },
  };
}

/** The shell leads a group of its own; on Windows there are none. */
function killGroup(pid: number, signal: NodeJS.Signals): void {
  if (pid <= 0) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch {
    // It has ended.
  }
}
