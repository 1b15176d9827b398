/** Calls of local callers: the machine's owner, who needs no relay. */
import { hash } from "node:crypto";
import type { Call } from "@matrx/shared/caller-frames.ts";
import { EFFECTS, effectOf, toolNameOf } from "@matrx/shared/effects.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeCallId } from "@matrx/shared/ids.ts";
import { type ModelTool, modelView } from "@matrx/shared/model-view.ts";
import type { Outcome } from "../core/answers.ts";
import { ByteBudget } from "../core/byte-budget.ts";
import type { CallRequest, Dispatcher } from "../core/dispatcher.ts";
import { LOCAL_GRANT } from "../core/journal-entry.ts";
import type { OutputPiece } from "../core/live-output.ts";
import { manifestOf } from "../core/manifest.ts";
import type { Tool } from "../core/tool.ts";

/** Who holds the token of this machine owns it. */
const LOCAL_OWNER: GrantScope = { id: LOCAL_GRANT, owner: true, effects: [...EFFECTS] };

export interface LocalCallsOptions {
  readonly device: string;
  readonly tools: readonly Tool[];
  readonly dispatcher: Dispatcher;
}

/** What a caller wants besides, or can do. */
export interface CallOptions {
  /** The call's name, unless its key stands for one. */
  readonly name?: string | undefined;
  readonly session?: string;
  readonly onOutput?: ((call: string, piece: OutputPiece) => void) | undefined;
  readonly room?: CallRequest["room"];
}

/** Large answers over REST that are made or not read yet, in bytes. */
const UNREAD_BYTES = 24 * 1024 * 1024;

export interface StartedCall {
  readonly call: string;
  readonly outcome: Promise<Outcome>;
}

export class LocalCalls {
  readonly device: string;
  readonly toolNames: readonly string[];
  /** For large answers over REST. */
  readonly unread = new ByteBudget(UNREAD_BYTES);
  readonly #tools: readonly Tool[];
  readonly #dispatcher: Dispatcher;

  constructor(options: LocalCallsOptions) {
    this.device = options.device;
    this.toolNames = options.tools.map(({ name }) => name).sort();
    this.#tools = options.tools;
    this.#dispatcher = options.dispatcher;
  }

  /** What a model gets that calls here. */
  async openTools(): Promise<ModelTool[]> {
    const mayCall = (tool: string) => this.#dispatcher.mayCall(tool, { grant: LOCAL_OWNER });
    return modelView((await manifestOf(this.#tools)).tools, mayCall);
  }

  /** Runs a call; with an idempotency key the same key is the same call. */
  start(
    { id, tool, input, timeout_ms, idempotency_key: key }: Call,
    { name, session, onOutput, room }: CallOptions = {},
  ): StartedCall {
    const known = key === undefined ? undefined : this.#dispatcher.callUnder(LOCAL_OWNER, key);
    const call = known ?? name ?? makeCallId();
    const outcome = this.#dispatcher.run({
      call,
      tool,
      input,
      session,
      room,
      id,
      grant: LOCAL_OWNER,
      timeoutMs: timeout_ms,
      key,
      fingerprint: key === undefined ? undefined : fingerprintOf(tool, input),
      // Who gives no key cannot ask for the same call again.
      journal: "keyed",
      onOutput: onOutput && ((piece: OutputPiece) => onOutput(call, piece)),
    });
    return { call, outcome };
  }

  cancel(call: string): void {
    this.#dispatcher.cancel(call);
  }
}

/** What only reads ends with its caller; effects go on unless they asked otherwise. */
export function endsWithCaller({ tool, cancel_on_disconnect }: Call): boolean {
  return effectOf(toolNameOf(tool)) === "read" || cancel_on_disconnect === true;
}

function fingerprintOf(tool: string, input: Record<string, unknown>): string {
  return hash("sha256", JSON.stringify([toolNameOf(tool), sorted(input)]));
}

/** Keys in order, so that the same input hashes the same however it was written. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
