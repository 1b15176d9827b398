/** Somebody at a terminal: a program that shows a shell, and how long the shell's answers take there. */
import { type IPty, spawn } from "@lydell/node-pty";

/** What is typed shows too: only the shell's answer has the word in one piece. */
const says = (word: string) => `echo ${word[0]}''${word.slice(1)}`;

/** In milliseconds: longer than anything here takes. */
const PATIENCE = 60_000;
/** The key whose echo is waited for, and the character of the flood. */
const KEY = "k";
const FLOOD = "x";

export class Seat implements AsyncDisposable {
  readonly #pty: IPty;
  readonly #exit: Promise<void>;
  #seen = "";
  #look: (() => void) | undefined;

  private constructor(file: string, args: string[], env: NodeJS.ProcessEnv) {
    this.#pty = spawn(file, args, { name: "xterm-256color", cols: 100, rows: 30, env });
    this.#pty.onData((data) => {
      this.#seen += data;
      this.#look?.();
    });
    this.#exit = new Promise((resolve) => this.#pty.onExit(() => resolve()));
  }

  /** A shell without prompt and echo, so that only answers are seen. */
  static async take(file: string, args: string[], env: NodeJS.ProcessEnv): Promise<Seat> {
    const seat = new Seat(file, args, env);
    seat.#pty.write(`exec bash --norc --noprofile\r`);
    seat.#pty.write(`PS1=; stty -echo; ${says("ready")}\r`);
    await seat.#sees("ready");
    return seat;
  }

  /** From each key to its echo, in milliseconds; keys are typed one after another. */
  async echoes(keys: number): Promise<number[]> {
    this.#pty.write(
      `stty raw; ${says("going")}; dd bs=1 count=${keys} status=none; stty -raw; ${says("done")}\r`,
    );
    await this.#sees("going");
    await this.#sees("\n");
    const times: number[] = [];
    for (let key = 0; key < keys; key++) {
      const began = performance.now();
      this.#pty.write(KEY);
      await this.#sees(KEY);
      times.push(performance.now() - began);
    }
    await this.#sees("done");
    return times;
  }

  /** So much output in lines, in MiB a second. */
  async output(mib: number): Promise<number> {
    const began = performance.now();
    this.#pty.write(`head -c ${mib}M /dev/zero | tr '\\0' ${FLOOD} | fold -w 99; ${says("done")}\r`);
    await this.#sees("done");
    return mib / ((performance.now() - began) / 1000);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#pty.write("exit\r");
    await this.#exit;
  }

  /** Waits for a text, and forgets what came up to it. Rejects if it does not come. */
  #sees(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(
        () => reject(new Error(`${text} was never seen: ${this.#seen.slice(-200)}`)),
        PATIENCE,
      );
      this.#look = () => {
        const at = this.#seen.indexOf(text);
        if (at < 0) {
          this.#seen = this.#seen.slice(-text.length);
          return;
        }
        clearTimeout(late);
        this.#look = undefined;
        this.#seen = this.#seen.slice(at + text.length);
        resolve();
      };
      this.#look();
    });
  }
}
