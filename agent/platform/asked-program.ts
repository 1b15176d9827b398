/** A program that keeps running and answers each question with a line, where starting it for each one costs too much. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { Mutex } from "@matrx/shared/mutex.ts";
import { ProgramFailed, ROOT } from "./run-program.ts";

export interface AskedProgramOptions {
  readonly file: string;
  readonly args: readonly string[];
  /** A line that it takes; it is answered by the next line that `isAnswer`. */
  readonly question: string;
  readonly isAnswer: (line: string) => boolean;
  /** It is killed if an answer takes longer, and when nobody has asked for `idleMs`; in milliseconds. */
  readonly answerWithinMs: number;
  readonly idleMs: number;
}

type Child = ChildProcessByStdio<Writable, Readable, null>;

export class AskedProgram {
  readonly #options: AskedProgramOptions;
  readonly #turns = new Mutex();
  #child: Child | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: AskedProgramOptions) {
    this.#options = options;
  }

  /** Its answer; starts it if it does not run. Throws ProgramFailed. */
  ask(): Promise<string> {
    return this.#turns.runExclusive(async () => {
      clearTimeout(this.#idle);
      const child = this.#child ?? this.#start();
      try {
        return await this.#answerOf(child);
      } catch (error) {
        this.#end();
        throw error;
      } finally {
        this.#idle = setTimeout(() => this.#end(), this.#options.idleMs).unref();
      }
    });
  }

  #start(): Child {
    const { file, args } = this.#options;
    const child = spawn(file, args, { cwd: ROOT, stdio: ["pipe", "pipe", "ignore"], windowsHide: true });
    // What goes wrong is known by the answer that does not come. It ends with the agent, which holds its stdin.
    for (const part of [child, child.stdin, child.stdout]) part.on("error", () => undefined);
    child.unref();
    child.once("exit", () => {
      if (this.#child === child) this.#child = undefined;
    });
    this.#child = child;
    return child;
  }

  #end(): void {
    clearTimeout(this.#idle);
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
  }

  async #answerOf(child: Child): Promise<string> {
    const { question, isAnswer, answerWithinMs } = this.#options;
    const answer = Promise.withResolvers<string>();
    const late = setTimeout(
      () => answer.reject(new ProgramFailed(`it did not answer within ${answerWithinMs} ms`)),
      answerWithinMs,
    );
    const ended = () => answer.reject(new ProgramFailed("it ended"));
    const lines = createInterface({ input: child.stdout });
    lines.on("line", (line) => {
      if (isAnswer(line)) answer.resolve(line);
    });
    child.once("close", ended).once("error", ended);
    child.stdin.write(`${question}\n`);
    try {
      return await answer.promise;
    } finally {
      clearTimeout(late);
      child.off("close", ended).off("error", ended);
      lines.close();
    }
  }
}
