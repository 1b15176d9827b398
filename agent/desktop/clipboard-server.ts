/**
 * Puts a text on the clipboard by a program. On X11 and Wayland the text stays with that program, which is then kept: one
 * at a time, until another program copies something, another text is put there, or the agent ends.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { Mutex } from "@matrx/shared/mutex.ts";
import { ProgramFailed } from "../platform/run-program.ts";

export interface Handover {
  /** Where the program was found. */
  readonly file: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly stdin: string;
  readonly signal: AbortSignal;
  /** Tells whether the text is on the clipboard by now. Undefined: the program ends when it is. */
  readonly isThere: ((signal: AbortSignal) => Promise<boolean>) | undefined;
}

/** PowerShell takes long to start; in milliseconds. */
const WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 30;
const SAID_CHARS = 200;

interface End {
  readonly code: number | null;
  readonly how: string;
}

export class ClipboardServer {
  /** Of two texts at once the second counts. */
  readonly mutex = new Mutex();
  #child: ChildProcess | undefined;

  /** Resolves when the text is on the clipboard. Throws ProgramFailed, or the signal's reason. */
  async put(handover: Handover): Promise<void> {
    const { file, args, env, cwd, stdin, signal } = handover;
    signal.throwIfAborted();
    const child = spawn(file, args, { env, cwd, stdio: ["pipe", "ignore", "pipe"], windowsHide: true });
    let said = "";
    // It goes on to write there, and ends if nobody reads.
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said = `${said}${text}`.slice(-SAID_CHARS);
    });
    const ended = endOf(child);
    // Whether it took all of it is known by how it ends.
    child.stdin.on("error", () => undefined).end(stdin);
    const late = AbortSignal.timeout(WITHIN_MS);
    try {
      const end = await settled(ended, handover.isThere, AbortSignal.any([signal, late]));
      if (end && end.code !== 0) throw new ProgramFailed(said.trim().split("\n").at(-1) || end.how);
    } catch (error) {
      child.kill("SIGKILL");
      if (!late.aborted || signal.aborted) throw error;
      throw new ProgramFailed(`it did not put the text there within ${WITHIN_MS} ms`, { cause: error });
    }
    this.#keep(child);
  }

  /** Ends the program that is kept. */
  close(): void {
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
  }

  #keep(child: ChildProcess): void {
    this.close();
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.unref();
    child.once("exit", () => {
      if (this.#child === child) this.#child = undefined;
    });
    this.#child = child;
  }
}

function endOf(child: ChildProcess): Promise<End> {
  return new Promise((resolve) => {
    child.once("error", (error) =>
      resolve({ code: null, how: `it could not be started (${error.message})` }),
    );
    // Only then is all read that it said.
    child.once("close", (code, signal) =>
      resolve({ code, how: signal ? `it was ended by ${signal}` : `it ended with exit code ${code}` }),
    );
  });
}

/** How the program ended; undefined if it runs on and the text is there. Throws the signal's reason. */
async function settled(
  ended: Promise<End>,
  isThere: Handover["isThere"],
  signal: AbortSignal,
): Promise<End | undefined> {
  for (;;) {
    const end = await Promise.race([ended, sleep(LOOK_EVERY_MS)]);
    if (end) return end;
    signal.throwIfAborted();
    if (await isThere?.(signal)) return undefined;
  }
}
