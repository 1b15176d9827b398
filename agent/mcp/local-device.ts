/** This machine for an MCP client that runs here: its calls need no relay. */
import type { OpenTools } from "@matrx/shared/caller/port.ts";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import type { Progress } from "@matrx/shared/content.ts";
import { agentError } from "@matrx/shared/errors.ts";
import type { CallId } from "@matrx/shared/ids.ts";
import { nestsDeeper } from "@matrx/shared/json-input.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import type { CallEnd, CallWatcher, McpCall, McpDevice } from "@matrx/shared/mcp/device.ts";
import type { WantedView } from "@matrx/shared/model-view.ts";
import type { Outcome } from "../core/answers.ts";
import type { OutputPiece } from "../core/live-output.ts";
import type { LocalCalls } from "../local/local-calls.ts";
import { describeMachine } from "../platform/machine.ts";

/** Calls whose clients were sent away, and may come back. */
const MOST_LEFT = 64;

interface LeftCall {
  readonly outcome: Promise<Outcome>;
  /** Whoever waits for it now. */
  watcher: CallWatcher | undefined;
}

export class LocalDevice implements McpDevice {
  readonly device: string;
  readonly approvalsUrl = undefined;
  readonly #calls: LocalCalls;
  readonly #waitMs: number;
  readonly #left = new Map<CallId, LeftCall>();

  constructor(calls: LocalCalls, waitMs: number = TIMES.mcpWait) {
    this.device = calls.device;
    this.#calls = calls;
    this.#waitMs = waitMs;
  }

  async openTools(view?: WantedView): Promise<OpenTools> {
    const { hostname: name, os, os_version } = describeMachine();
    const { folders, ...open } = await this.#calls.openTools({ ...view, naming: "own" });
    return { machine: { name, os, os_version, folders }, ...open };
  }

  async call({ tool, input, session, live }: McpCall, watcher: CallWatcher, signal: AbortSignal) {
    if (nestsDeeper(input, LIMITS.depth)) throw tooDeep();
    let running: LeftCall | undefined;
    const onOutput = live
      ? (_call: string, piece: OutputPiece) => running?.watcher?.output(piece)
      : undefined;
    const onProgress = live ? (progress: Progress) => running?.watcher?.progress(progress) : undefined;
    const { call, outcome } = this.#calls.start({ tool, input }, { session, onOutput, onProgress });
    running = { outcome, watcher };
    return await this.#follow(call, running, signal);
  }

  async wait(call: CallId, watcher: CallWatcher, signal: AbortSignal): Promise<CallEnd> {
    const left = this.#left.get(call);
    if (!left) throw noSuchCall();
    left.watcher = watcher;
    return await this.#follow(call, left, signal);
  }

  async cancel(call: CallId): Promise<void> {
    this.#calls.cancel(call);
  }

  /** Answers are kept only as long as this program runs. */
  recordUrl(): undefined {}

  async #follow(call: CallId, running: LeftCall, signal: AbortSignal): Promise<CallEnd> {
    const stop = () => void this.#calls.cancel(call);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop);
    using limit = new TimeLimit(this.#waitMs);
    try {
      const ended = await Promise.race([running.outcome, limit.over]);
      if (ended) this.#left.delete(call);
      else this.#leave(call, running);
      return ended
        ? { kind: "answer", answer: answerOf(ended) }
        : { kind: "pending", call, approval: undefined };
    } finally {
      running.watcher = undefined;
      signal.removeEventListener("abort", stop);
    }
  }

  #leave(call: CallId, running: LeftCall): void {
    this.#left.set(call, running);
    if (this.#left.size > MOST_LEFT) this.#left.delete(this.#left.keys().next().value as CallId);
  }
}

class TimeLimit implements Disposable {
  readonly over: Promise<undefined>;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.over = new Promise((resolve) => {
      this.#timer = setTimeout(() => resolve(undefined), ms);
    });
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}

function answerOf({ body }: Outcome): Answer {
  return JSON.parse(Buffer.from(body).toString()) as Answer;
}

function tooDeep() {
  return agentError("INVALID_PARAMETERS", `The arguments nest deeper than ${LIMITS.depth} levels`);
}

function noSuchCall() {
  return agentError("NOT_FOUND", "No such call, or its result was already told", {
    hint: "Results of calls are kept only until they are told, and while this server runs",
  });
}
