/** A call on its way to the device: what is wanted, and what the gate found. */
import type { ExecuteOpens } from "@matrx/shared/device-frames.ts";
import type { Effect } from "@matrx/shared/effects.ts";
import type { CallId, SessionId } from "@matrx/shared/ids.ts";
import type { Lease } from "../leases.ts";

/** A call as a surface submits it. */
export interface WantedCall {
  /** For REST made in the Worker, otherwise here. */
  call?: CallId | undefined;
  /** The caller chose the name, so it may be taken. */
  chosen?: boolean | undefined;
  tool: string;
  /** JSON of the input. */
  input: string;
  lease: Lease;
  /** The caller's id; REST has none. */
  id?: string | undefined;
  session?: SessionId | undefined;
  /** What the caller asked for, in milliseconds. */
  timeoutMs?: number | undefined;
  stream?: boolean | undefined;
  /** The stream that the call opens, as the frame says it. */
  opens?: ExecuteOpens | undefined;
  /** Its caller is a model, which repeats a call rather than to ask for it by name. */
  repeats?: boolean | undefined;
  /** Idempotency key. */
  key?: string | undefined;
}

/** What the gate found out about a call that it admitted. */
export interface Passed {
  /** The device's own name for the tool. */
  tool: string;
  /** The caller's name for it, if different. */
  called: string | undefined;
  effect: Effect;
  /** The tool's own time limit, in milliseconds. */
  toolTimeoutMs: number;
}

/** What a caller may repeat a call with: its idempotency key, or the name that it chose. `digest` covers tool and input. */
export interface Keyed {
  key: string | null;
  digest: string;
}
