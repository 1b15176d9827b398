/** Calls of local callers, who act as the machine's owner. */
import { hash } from "node:crypto";
import { fitsTool } from "@matrx/shared/access-rules.ts";
import type { Call } from "@matrx/shared/caller/from-caller.ts";
import { EFFECTS, effectOfCall, toolNameOf } from "@matrx/shared/effects.ts";
import { agentError } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { type CallId, type GrantId, makeCallId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { offeredTools, type WantedView } from "@matrx/shared/model-view.ts";
import type { Policy } from "@matrx/shared/policy.ts";
import type { Manifest } from "@matrx/shared/tool.ts";
import type { Outcome } from "../core/answers.ts";
import type { CallRequest } from "../core/call-request.ts";
import type { Dispatcher } from "../core/dispatcher.ts";
import { isLocalGrant, LOCAL_GRANT } from "../core/journal-entry.ts";
import type { OutputPiece } from "../core/live-output.ts";
import { manifestOf } from "../core/manifest.ts";
import type { ToolSource } from "../core/tool-source.ts";

/** Whoever has this machine's token is its owner. */
export const LOCAL_OWNER: GrantScope & { id: GrantId } = {
  id: LOCAL_GRANT,
  owner: true,
  effects: [...EFFECTS],
};

export interface LocalCallsOptions {
  readonly device: string;
  readonly tools: ToolSource;
  readonly dispatcher: Dispatcher;
  readonly policy: { current(): Policy };
  /** What its callers may do; absent: they are the owner. */
  readonly grant?: GrantScope & { id: GrantId };
}

/** What a caller may add to a call. */
export interface CallOptions {
  /** The name for a new call; absent: one is made. */
  readonly name?: CallId | undefined;
  /** The same, but the caller's own choice: it may be taken. */
  readonly chosen?: CallId | undefined;
  readonly session?: string | undefined;
  readonly onOutput?: ((call: string, piece: OutputPiece) => void) | undefined;
  readonly onProgress?: CallRequest["onProgress"];
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
  readonly #tools: ToolSource;
  readonly #dispatcher: Dispatcher;
  readonly #policy: LocalCallsOptions["policy"];
  readonly #grant: GrantScope & { id: GrantId };

  constructor(options: LocalCallsOptions) {
    this.device = options.device;
    this.#tools = options.tools;
    this.#dispatcher = options.dispatcher;
    this.#policy = options.policy;
    this.#grant = options.grant ?? LOCAL_OWNER;
  }

  /** The tools shown to a model that calls here. */
  async openTools(view?: WantedView) {
    const mayCall = (tool: string) => this.#dispatcher.mayCall(tool, { grant: this.#grant });
    const { hash, tools } = await manifestOf(this.#tools.current());
    return {
      hash,
      ...offeredTools(tools, mayCall, this.#grant, view),
      folders: this.#policy.current().allowed_paths ?? null,
    };
  }

  /** The tools that the policy allows. */
  toolNames(): string[] {
    const { allowed_tools, denied_tools = [] } = this.#policy.current();
    return this.#tools
      .current()
      .map(({ name }) => name)
      .filter((name) => !allowed_tools || fitsTool(allowed_tools, name))
      .filter((name) => !fitsTool(denied_tools, name))
      .sort();
  }

  async tools(): Promise<Manifest> {
    const names = this.toolNames();
    const { hash, tools } = await manifestOf(this.#tools.current());
    return { hash, tools: tools.filter(({ name }) => names.includes(name)) };
  }

  /**
   * Runs a call; the same idempotency key means the same call. Throws MatrxError `CONFLICT` if the name that its caller
   * chose is taken.
   */
  start(
    { id, tool, input, timeout_ms, idempotency_key: key }: Call,
    { name, chosen, session, onOutput, onProgress, room }: CallOptions = {},
  ): StartedCall {
    const call = this.#nameOf(key, chosen) ?? name ?? makeCallId();
    const outcome = this.#dispatcher.run({
      call,
      tool,
      input,
      session,
      room,
      id,
      grant: this.#grant,
      timeoutMs: timeout_ms,
      key,
      fingerprint: key === undefined ? undefined : fingerprintOf(tool, input),
      // Without a key or a name, a caller cannot ask for the same call again.
      journal: chosen === undefined ? "keyed" : "always",
      onProgress,
      onOutput: onOutput && ((piece: OutputPiece) => onOutput(call, piece)),
    });
    const own =
      this.#tools.current().find(({ name }) => name === toolNameOf(tool))?.timeoutMs ?? TIMES.callDefault;
    return { call, deadline: Date.now() + (timeout_ms ?? own), outcome };
  }

  /** The name of the call that the key stands for, or that its caller chose. */
  #nameOf(key: string | undefined, chosen: CallId | undefined): CallId | undefined {
    const known = key === undefined ? undefined : this.#dispatcher.callUnder(this.#grant, key);
    return (known as CallId | undefined) ?? this.#freeName(chosen);
  }

  #freeName(chosen: CallId | undefined): CallId | undefined {
    if (chosen === undefined || this.#dispatcher.stateOf(chosen) === "never") return chosen;
    throw agentError("CONFLICT", "Another call already has this name", {
      hint: "Use a new name for each new call",
    });
  }

  /** Asks a call to stop. Returns false if no local caller has one with this name. */
  cancel(call: string): boolean {
    if (!isLocalGrant(this.#dispatcher.grantOf(call))) return false;
    this.#dispatcher.cancel(call);
    return true;
  }
}

/** Whether a call stops when its caller leaves: reads do, effects only if the caller asked for it. */
export function endsWithCaller({
  tool,
  input,
  cancel_on_disconnect,
}: Pick<Call, "tool" | "input" | "cancel_on_disconnect">): boolean {
  return effectOfCall(toolNameOf(tool), () => input) === "read" || cancel_on_disconnect === true;
}

function fingerprintOf(tool: string, input: Record<string, unknown>): string {
  return hash("sha256", JSON.stringify([toolNameOf(tool), sorted(input)]));
}

/** Sorts keys, so that the same input has the same hash however it was written. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
