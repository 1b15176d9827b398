/** Calls of local callers: the machine's owner, who needs no relay. */
import { createHash } from "node:crypto";
import type { Call } from "@matrx/shared/caller/from-caller.ts";
import { EFFECTS, effectOf, toolNameOf } from "@matrx/shared/effects.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { type GrantId, makeCallId } from "@matrx/shared/ids.ts";
import { type ModelTool, modelView } from "@matrx/shared/model-view.ts";
import { refusalOf } from "@matrx/shared/policy.ts";
import type { Outcome } from "../core/answers.ts";
import type { CallRequest, Dispatcher, DispatcherOptions } from "../core/dispatcher.ts";
import type { OutputPiece } from "../core/live-output.ts";
import { manifestOf } from "../core/manifest.ts";
import type { Tool } from "../core/tool.ts";
import { ByteBudget } from "../relay/byte-budget.ts";

/** Who holds the token of this machine owns it. */
const LOCAL_OWNER: GrantScope = { id: "grant_local" as GrantId, owner: true, effects: [...EFFECTS] };

export interface LocalCallsOptions {
  readonly device: string;
  readonly tools: readonly Tool[];
  readonly policy: DispatcherOptions["policy"];
  /** For calls that are each new: nothing is written down. */
  readonly dispatcher: Dispatcher;
  /** With a journal, for calls with an idempotency key. */
  readonly keyedDispatcher: Dispatcher;
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
  readonly #policy: DispatcherOptions["policy"];
  readonly #dispatcher: Dispatcher;
  readonly #keyed: Dispatcher;

  constructor(options: LocalCallsOptions) {
    this.device = options.device;
    this.toolNames = options.tools.map(({ name }) => name).sort();
    this.#tools = options.tools;
    this.#policy = options.policy;
    this.#dispatcher = options.dispatcher;
    this.#keyed = options.keyedDispatcher;
  }

  /** What a model gets that calls here. */
  async openTools(): Promise<ModelTool[]> {
    const policy = this.#policy.current();
    const mayCall = (tool: string) => !refusalOf({ tool, grant: LOCAL_OWNER, policy }, "agent");
    return modelView((await manifestOf(this.#tools)).tools, mayCall);
  }

  /** Runs a call; with an idempotency key the same key is the same call. */
  start(
    { id, tool, input, timeout_ms, idempotency_key: key }: Call,
    { name, session, onOutput, room }: CallOptions = {},
  ): StartedCall {
    const call = this.#nameOf(key, name);
    const request = {
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
      onOutput: onOutput && ((piece: OutputPiece) => onOutput(call, piece)),
    };
    const dispatcher = key === undefined ? this.#dispatcher : this.#keyed;
    return { call, outcome: dispatcher.run(request) };
  }

  /** A new call's name, or that of the call which the key stands for. */
  #nameOf(key: string | undefined, name: string = makeCallId()): string {
    if (key === undefined) return name;
    // So the release before named the calls of a key.
    const former = `key-${sha256(key).slice(0, 48)}`;
    const known = this.#keyed.stateOf(former) === "never" ? undefined : former;
    return known ?? this.#keyed.callUnder(LOCAL_OWNER, key) ?? name;
  }

  cancel(call: string): void {
    this.#dispatcher.cancel(call);
    this.#keyed.cancel(call);
  }

  async stopAll(reason: string): Promise<void> {
    await Promise.all([this.#dispatcher.stopAll(reason), this.#keyed.stopAll(reason)]);
  }
}

/** What only reads ends with its caller; effects go on unless they asked otherwise. */
export function endsWithCaller({ tool, cancel_on_disconnect }: Call): boolean {
  return effectOf(toolNameOf(tool)) === "read" || cancel_on_disconnect === true;
}

function fingerprintOf(tool: string, input: Record<string, unknown>): string {
  return sha256(JSON.stringify([toolNameOf(tool), sorted(input)]));
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

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
