/**
 * Runs a command in the shell of a terminal, as if it were typed, and takes what it writes between the shell's marks. A program
 * can forge such marks: they say what is shown, and prove nothing.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { toolName } from "../text/tool-names.ts";
import { CommandOutput, type Kept } from "./command-output.ts";
import type { Attachment } from "./holder-link.ts";
import type { TerminalEvent } from "./protocol.ts";
import type { Terminals } from "./terminals.ts";

/** How long a new shell may take until its first prompt, in milliseconds. */
const PROMPT_MS = 10_000;
/** How long the next prompt may take when a command has just ended, in milliseconds. */
const SETTLE_MS = 500;
/** How long it may take from a prompt until it can be pasted into, in milliseconds. */
const PASTE_MS = 2000;
const LOOK_EVERY_MS = 20;
/** A new prompt, without a command begun so long after it, in milliseconds: the shell did not run what was typed. */
const UNRUN_MS = 500;
/** To the end of the line, and away with all of it: somebody may have begun to type. */
const CLEAR_LINE = "\u0005\u0015";
const INTERRUPT = "\u0003";
/** How long a command may take to begin, and again to end, when it is interrupted, in milliseconds: some go on. */
const INTERRUPT_MS = 2000;
const INTERRUPT_EVERY_MS = 100;
const PASTE = ["\u001b[200~", "\u001b[201~"] as const;

export interface Execution {
  /**
   * `unrun`: the shell refused it, as it does with a syntax error. `unfinished`: the shell waits for the rest of it. `closed`: the
   * terminal ended with it.
   */
  readonly outcome: "ended" | "running" | "unrun" | "unfinished" | "closed";
  readonly exit: number | null;
  readonly output: Kept;
}

export interface ExecutionOptions {
  readonly grant: Pick<GrantScope, "id" | "owner">;
  /** It is answered then, even if the command goes on; in milliseconds. */
  readonly yieldMs: number;
  /** Interrupts the command. */
  readonly signal: AbortSignal;
  /** Gets the command's bytes as they come, with the number of the first. */
  readonly live: (offset: number, bytes: Buffer) => void;
}

/** Throws MatrxError. */
export async function execute(
  terminals: Terminals,
  id: string,
  command: string,
  options: ExecutionOptions,
): Promise<Execution> {
  const { grant, yieldMs, signal } = options;
  const attachment = await terminals.attach({ id, from: "now", write: true }, grant);
  try {
    const watch = new CommandWatch(attachment, options.live);
    const shell = await prompted(terminals, id, grant, watch);
    const { keys, at } = await typed(terminals, id, command, grant);
    signal.throwIfAborted();
    watch.expect(at);
    await attachment.write(Buffer.from(keys));
    const enough = new AbortController();
    const late = sleep(yieldMs, "late", { signal: AbortSignal.any([signal, enough.signal]) });
    try {
      const first = await Promise.race([watch.done, late.catch(() => "late")]);
      if (first === "late" && signal.aborted) {
        await interrupt(attachment, watch, shell, () => terminals.find(id, grant));
        throw signal.reason;
      }
    } finally {
      enough.abort();
    }
    const execution = watch.execution();
    // What it did not run may still stand in its line.
    if (execution.outcome === "unrun") {
      await attachment.write(Buffer.from(INTERRUPT));
      // With the signal, the terminal drops what is typed next.
      await Promise.race([watch.cleared, sleep(SETTLE_MS, undefined, { ref: false })]);
    }
    return execution;
  } finally {
    attachment.close();
  }
}

/**
 * Interrupts the command, however far it is: a shell that has not begun it, or is between two of its programs, would go on with
 * the next. Each program is interrupted once, since some take the second time for more than that.
 */
async function interrupt(
  attachment: Attachment,
  watch: CommandWatch,
  shell: string | null,
  find: () => ReturnType<Terminals["find"]>,
): Promise<void> {
  const begun = await within(INTERRUPT_MS, [watch.begun, watch.done]);
  // The shell waits for the rest of it.
  if (!begun) await attachment.write(Buffer.from(INTERRUPT));
  let reached: string | null | undefined;
  for (const until = Date.now() + INTERRUPT_MS; Date.now() < until; ) {
    const { exit, state, foreground } = await find();
    if (exit || state === "prompt") return;
    const isNew = foreground !== reached || foreground === shell;
    // A system that does not tell what is in the foreground knows what the key reaches.
    if (foreground === null && isNew) await attachment.write(Buffer.from(INTERRUPT));
    else if (isNew) attachment.say({ type: "signal", signal: "SIGINT" });
    reached = foreground;
    if (await within(INTERRUPT_EVERY_MS, [watch.done])) return;
  }
}

/** Whether one of them resolves within so many milliseconds. */
async function within(ms: number, promises: readonly Promise<unknown>[]): Promise<boolean> {
  const timer = new AbortController();
  const late = sleep(ms, false, { signal: timer.signal }).catch(() => false);
  try {
    return await Promise.race([late, ...promises.map((promise) => promise.then(() => true))]);
  } finally {
    timer.abort();
  }
}

/** Resolves when the shell waits for a command, with its command line if the system tells. Throws MatrxError if it does not. */
async function prompted(
  terminals: Terminals,
  id: string,
  grant: ExecutionOptions["grant"],
  watch: CommandWatch,
): Promise<string | null> {
  const { record, exit, state, foreground } = await terminals.find(id, grant);
  if (exit) throw hasEnded(id);
  if (!record.marks) throw sendsNoMarks();
  if (state === "prompt") return foreground;
  if (!(await within(state === "running" ? SETTLE_MS : PROMPT_MS, [watch.prompted])))
    throw state === "running" ? isBusy(foreground) : sendsNoMarks();
  return (await terminals.find(id, grant)).foreground;
}

/** The keys that enter a command, and the byte of output before which they are not yet seen. Throws MatrxError. */
async function typed(
  terminals: Terminals,
  id: string,
  command: string,
  grant: ExecutionOptions["grant"],
): Promise<{ readonly keys: string; readonly at: number }> {
  const text = command.replace(/\r?\n/g, "\n").replace(/\n+$/, "");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are keys
  if (/[\u0000-\u0008\u000b-\u001f\u007f]/.test(text)) throw hasKeys();
  const needsPaste = /[\n\t]/.test(text);
  for (const until = Date.now() + PASTE_MS; ; await sleep(LOOK_EVERY_MS)) {
    const { bracketedPaste, at } = await terminals.screen(id, grant);
    if (bracketedPaste) return { keys: `${CLEAR_LINE}${PASTE[0]}${text}${PASTE[1]}\r`, at };
    if (!needsPaste) return { keys: `${CLEAR_LINE}${text}\r`, at };
    if (Date.now() > until) throw hasManyLines();
  }
}

/** Follows a terminal until a command in it has ended. */
class CommandWatch {
  readonly done: Promise<void>;
  /** Resolves when the shell begins the command. */
  readonly begun: Promise<void>;
  /** Resolves at the first prompt. */
  readonly prompted: Promise<void>;
  /** Resolves at the prompt that follows what the shell did not run. */
  readonly cleared: Promise<void>;
  readonly #output: CommandOutput;
  readonly #live: ExecutionOptions["live"];
  readonly #done = Promise.withResolvers<void>();
  readonly #begun = Promise.withResolvers<void>();
  readonly #prompted = Promise.withResolvers<void>();
  readonly #cleared = Promise.withResolvers<void>();
  #offset = 0;
  /** The command is typed from this byte of output on. */
  #typedAt = Number.POSITIVE_INFINITY;
  #hasBegun = false;
  /** A new prompt began after the command was typed. */
  #isPromptedAnew = false;
  #outcome: Execution["outcome"] = "running";
  #exit: number | null = null;
  #unrun: NodeJS.Timeout | undefined;

  constructor(attachment: Attachment, live: ExecutionOptions["live"]) {
    this.#output = new CommandOutput(attachment.attached.from);
    this.#live = live;
    this.done = this.#done.promise;
    this.begun = this.#begun.promise;
    this.prompted = this.#prompted.promise;
    this.cleared = this.#cleared.promise;
    this.done.catch(() => undefined);
    this.prompted.catch(() => undefined);
    this.#follow(attachment).catch((error: unknown) => {
      this.#done.reject(error);
      this.#prompted.reject(error);
    });
  }

  /** The command is typed now; what the terminal wrote before that byte has nothing to do with it. */
  expect(at: number): void {
    this.#typedAt = at;
  }

  execution(): Execution {
    clearTimeout(this.#unrun);
    const outcome = this.#outcome === "running" && !this.#hasBegun ? "unfinished" : this.#outcome;
    return { outcome, exit: this.#exit, output: this.#output.kept() };
  }

  async #follow(attachment: Attachment): Promise<void> {
    for await (const piece of attachment.flow()) {
      if (piece.kind === "data") {
        const own = this.#output.take(piece.bytes);
        if (own.length > 0) this.#live(this.#offset, own);
        this.#offset += own.length;
      } else this.#note(piece.event);
      if (this.#outcome === "ended" && this.#output.isWhole) this.#done.resolve();
    }
  }

  #note(event: TerminalEvent): void {
    if (event.event === "gap") this.#output.skip(event.to);
    if (event.event === "exit") {
      this.#outcome = this.#outcome === "ended" ? "ended" : "closed";
      this.#exit ??= event.code;
      this.#done.resolve();
      this.#prompted.resolve();
    }
    if (event.event !== "mark") return;
    if (event.mark === "input") {
      this.#prompted.resolve();
      if (this.#outcome === "unrun") this.#cleared.resolve();
    }
    if (event.at < this.#typedAt) return;
    if (event.mark === "prompt") this.#isPromptedAnew = true;
    if (event.mark === "input") {
      // A shell that lost the hook of the end still shows that it waits for a command.
      if (this.#hasBegun) this.#end(event.at, null);
      else if (this.#isPromptedAnew) this.#unrun ??= setTimeout(() => this.#giveUp(), UNRUN_MS);
    }
    if (event.mark === "start" && !this.#hasBegun) {
      clearTimeout(this.#unrun);
      this.#hasBegun = true;
      this.#output.begin(event.after);
      this.#begun.resolve();
    }
    if (event.mark === "end" && this.#hasBegun) this.#end(event.at, event.code ?? null);
  }

  #end(at: number, exit: number | null): void {
    if (this.#outcome !== "running") return;
    this.#outcome = "ended";
    this.#exit = exit;
    this.#output.end(at);
  }

  #giveUp(): void {
    if (this.#hasBegun || this.#outcome !== "running") return;
    this.#outcome = "unrun";
    this.#done.resolve();
  }
}

/** The error for a terminal in which nothing can run any more. */
export function hasEnded(id: string): MatrxError {
  return toolError("CONFLICT", `${id} has ended`, {
    hint: "Leave out terminal to get another",
  });
}

function isBusy(program: string | null): MatrxError {
  return toolError(
    "CONFLICT",
    `A program is running in it${program === null ? "" : `: ${program.slice(0, 200)}`}`,
    {
      hint: `See it and press keys with ${toolName("TerminalInput")}, or leave out terminal to get another`,
      details: { reason: "BUSY" },
    },
  );
}

function sendsNoMarks(): MatrxError {
  return toolError(
    "UNAVAILABLE",
    "The shell in it does not tell when it waits for a command and when one ends",
    {
      hint: `Type with ${toolName("TerminalInput")}, or leave out terminal to get another`,
      details: { reason: "NO_MARKS" },
    },
  );
}

function hasKeys(): MatrxError {
  return toolError("INVALID_PARAMETERS", "command: contains control characters", {
    hint: `Press keys with ${toolName("TerminalInput")}`,
    details: { field: "command" },
  });
}

function hasManyLines(): MatrxError {
  return toolError("INVALID_PARAMETERS", "command: this shell takes one line at a time, without tabs", {
    hint: "Give one line, with ; between its commands",
    details: { field: "command" },
  });
}
