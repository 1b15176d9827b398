/** Calls of local callers: the machine's owner, who needs no relay. */
import { createHash } from "node:crypto";
import type { Call } from "@matrx/shared/caller-frames.ts";
import { EFFECTS, effectOf, toolNameOf } from "@matrx/shared/effects.ts";
import { errorsFor } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { type CallId, type GrantId, makeCallId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { modelView } from "@matrx/shared/model-view.ts";
import { refusalOf } from "@matrx/shared/policy.ts";
import type { Manifest } from "@matrx/shared/tool.ts";
import type { Outcome } from "../core/answers.ts";
import type { CallRequest, Dispatcher, DispatcherOptions } from "../core/dispatcher.ts";
import type { OutputPiece } from "../core/live-output.ts";
import { manifestOf } from "../core/manifest.ts";
import type { Tool } from "../core/tool.ts";

/** Who holds the token of this machine owns it. */
export const LOCAL_OWNER: GrantScope & { id: GrantId } = {
  id: "grant_local" as GrantId,
  owner: true,
  effects: [...EFFECTS],
};

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
  readonly session?: string | undefined;
  /** The caller's own name for the call. */
  readonly chosen?: CallId | undefined;
  readonly onOutput?: ((call: string, piece: OutputPiece) => void) | undefined;
  readonly room?: CallRequest["room"];
}

export interface StartedCall {
  readonly call: CallId;
  /** Milliseconds since 1970. */
  readonly deadline: number;
  readonly outcome: Promise<Outcome>;
}

export class LocalCalls {
  readonly device: string;
  readonly #tools: readonly Tool[];
  readonly #policy: DispatcherOptions["policy"];
  readonly #dispatcher: Dispatcher;
  readonly #keyed: Dispatcher;

  constructor(options: LocalCallsOptions) {
    this.device = options.device;
    this.#tools = options.tools;
    this.#policy = options.policy;
    this.#dispatcher = options.dispatcher;
    this.#keyed = options.keyedDispatcher;
  }

  /** What a model gets that calls here. */
  async openTools() {
    const policy = this.#policy.current();
    const mayCall = (tool: string) => !refusalOf({ tool, grant: LOCAL_OWNER, policy }, "agent");
    const { hash, tools } = await manifestOf(this.#tools);
    return { hash, tools: modelView(tools, mayCall), folders: policy.allowed_paths ?? null };
  }

  /** As the policy leaves them. */
  toolNames(): string[] {
    const { allowed_tools } = this.#policy.current();
    const names = this.#tools.map(({ name }) => name).sort();
    return allowed_tools ? names.filter((name) => allowed_tools.includes(name)) : names;
  }

  async tools(): Promise<Manifest> {
    const names = this.toolNames();
    const { hash, tools } = await manifestOf(this.#tools);
    return { hash, tools: tools.filter(({ name }) => names.includes(name)) };
  }

  /**
   * Runs a call; with an idempotency key the same key is the same call. Throws MatrxError `CONFLICT` when the name that its
   * caller chose is taken.
   */
  start(
    { id, tool, input, timeout_ms, idempotency_key: key }: Call,
    { session, chosen, onOutput, room }: CallOptions = {},
  ): StartedCall {
    const call = this.#nameOf(key, chosen);
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
    // What its caller can name again is written down.
    const dispatcher = key === undefined && chosen === undefined ? this.#dispatcher : this.#keyed;
    const own = this.#tools.find(({ name }) => name === toolNameOf(tool))?.timeoutMs ?? TIMES.callDefault;
    return { call, deadline: Date.now() + (timeout_ms ?? own), outcome: dispatcher.run(request) };
  }

  /** A new call's name, or that of the call which the key stands for. */
  #nameOf(key: string | undefined, chosen: CallId | undefined): CallId {
    return (key === undefined ? undefined : this.#keptName(key)) ?? this.#freeName(chosen) ?? makeCallId();
  }

  #freeName(chosen: CallId | undefined): CallId | undefined {
    if (chosen === undefined || this.#stateOf(chosen) === "never") return chosen;
    throw errorsFor("agent")("CONFLICT", "Another call already has this name", {
      hint: "Use a new name for each new call",
    });
  }

  #keptName(key: string): CallId | undefined {
    // So the release before named the calls of a key.
    const former = `key-${sha256(key).slice(0, 48)}`;
    const known = this.#keyed.stateOf(former) === "never" ? undefined : former;
    return (known ?? this.#keyed.callUnder(LOCAL_OWNER, key)) as CallId | undefined;
  }

  /** Asks for a call to stop. False: there is none of this name. */
  cancel(call: string): boolean {
    return this.#dispatcher.cancel(call) || this.#keyed.cancel(call) || this.#stateOf(call) !== "never";
  }

  #stateOf(call: string) {
    return this.#dispatcher.isRunning(call) ? "started" : this.#keyed.stateOf(call);
  }

  async stopAll(reason: string): Promise<void> {
    await Promise.all([this.#dispatcher.stopAll(reason), this.#keyed.stopAll(reason)]);
  }
}

/** What only reads ends with its caller; effects go on unless they asked otherwise. */
export function endsWithCaller({
  tool,
  cancel_on_disconnect,
}: Pick<Call, "tool" | "cancel_on_disconnect">): boolean {
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
