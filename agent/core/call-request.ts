/** What a caller wants done, as relay link and local server say it. */

import type { Progress } from "@matrx/shared/content.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import type { Policy } from "@matrx/shared/policy.ts";
import type { Approval } from "./approvals.ts";
import type { ServeStream } from "./byte-stream.ts";
import type { StreamNeeds } from "./gate.ts";
import type { OutputPiece } from "./live-output.ts";

/** A stream that a tool serves. */
export interface ServedStream {
  readonly serve: ServeStream;
  /** Whether it carries key presses rather than files. */
  readonly interactive: boolean;
  /** What it may only go on with while its caller may. */
  readonly needs: StreamNeeds;
}

export interface CallRequest {
  /** The call's name, under which it runs at most once. */
  readonly call: string;
  readonly tool: string;
  /** The caller's name for the tool; absent: the same as `tool`. Texts use names in the same style. */
  readonly called?: string | undefined;
  readonly input: Record<string, unknown>;
  readonly grant: GrantScope;
  /** The owner's policy for this device at the relay; applies in addition to the device's own. */
  readonly relayPolicy?: Policy | undefined;
  /** The caller's own name for the call. */
  readonly id?: string | undefined;
  /** Absent: a new session just for this call. */
  readonly session?: string | undefined;
  /** Milliseconds from now; absent: the tool's own limit. */
  readonly timeoutMs?: number | undefined;
  /** Hash of tool and input: reusing a call's name or key with a different hash is a `CONFLICT`. */
  readonly fingerprint?: string | undefined;
  /** Idempotency key: at most one call of the grant runs under it, whatever its name. */
  readonly key?: string | undefined;
  /** Which calls with an effect go into the journal: all (the default), or only those with an idempotency key. */
  readonly journal?: "always" | "keyed" | undefined;
  /** The caller wants live output. */
  readonly onOutput?: ((piece: OutputPiece) => void) | undefined;
  /** The same for how far the call is. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** The caller opens a stream with the call. Called if the tool serves one, before the call is answered. */
  readonly onStream?: ((served: ServedStream) => void) | undefined;
  /** A person allowed exactly this call. */
  readonly approval?: Approval | undefined;
  /** Resolves once there is room for a large answer of this many bytes; rejects with the signal's reason. */
  readonly room?: ((bytes: number, signal: AbortSignal) => Promise<void>) | undefined;
}

/** A call that is to be prepared: checked and looked at, but not run. */
export type PrepareRequest = Pick<
  CallRequest,
  "call" | "tool" | "called" | "input" | "grant" | "relayPolicy" | "session"
>;
