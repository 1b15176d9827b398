/** A call on its way to the device: what is wanted, what the gate found, who gets the answer. */
import type { Effect } from "@matrx/shared/effects.ts";
import type { CallId, SessionId } from "@matrx/shared/ids.ts";
import type { Lease } from "../leases.ts";

/** A call as a surface gives it. */
export interface WantedCall {
  /** Made in the Worker for REST; else here. */
  call?: CallId | undefined;
  /** Its caller chose the name, so it may be taken. */
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
  /** Idempotency key. */
  key?: string | undefined;
}

/** What the gate found out about a call that it let pass. */
export interface Passed {
  /** The device's own name for the tool. */
  tool: string;
  /** What the caller called it, where that is another name. */
  called: string | undefined;
  effect: Effect;
  /** What the tool takes at most, in milliseconds. */
  toolTimeoutMs: number;
}

/** What a caller may come again with: its idempotency key, or the name that it chose; `digest` is of what that stands for. */
export interface Keyed {
  key: string | null;
  digest: string;
}
