/** Who waits for a call: a caller's socket, a REST request, or a stream of events. */
import type { CallApproval } from "@matrx/shared/approval.ts";
import type { Progress } from "@matrx/shared/content.ts";
import type { ExecuteOpens } from "@matrx/shared/device-frames.ts";
import type { Effect } from "@matrx/shared/effects.ts";
import type { ErrorShape } from "@matrx/shared/errors.ts";
import type { CallId } from "@matrx/shared/ids.ts";
import type { ResultHeader } from "@matrx/shared/result-frame.ts";
import type { Lease } from "../leases.ts";

export interface Recipient {
  /** Under which it calls, or follows. */
  readonly lease: Lease;
  /** The caller's id for the call; HTTP has none. */
  readonly id?: string | undefined;
  /** Whether the device sends live output for it. */
  readonly live?: boolean | undefined;
  /** The stream that the call opens, as the frame says it. */
  readonly opens?: ExecuteOpens | undefined;
  /** The call is admitted with this name and deadline (milliseconds since 1970). Called before anything else. */
  accepted(call: CallId, deadline: number, effect: Effect): void;
  /** The call waits before it is sent, perhaps for long: a socket keeps it through hibernation from now on. */
  parked(): void;
  /** A person is asked about the call, or has allowed it. */
  asked(approval: CallApproval, call: CallId): void;
  /** Its caller can ask for the call later, because it was told the name. */
  readonly knowsName: boolean;
  /** The caller's socket; REST has none. */
  readonly socket?: WebSocket | undefined;
  /** The answer will carry another caller's id: it must be readdressed, and there is no live output. */
  follow(): void;
  /**
   * The answer as the device wrote it; `body` belongs to the frame and must not be kept. `missed` frames of live output
   * were dropped before it.
   */
  result(header: ResultHeader, body: Uint8Array, missed: number): void;
  /** Live output, after `missed` dropped frames. Returns false if the recipient reads too slowly and this one is dropped too. */
  output(body: Uint8Array, missed: number): boolean;
  /** How far the call is. Only for those who asked for live output; dropped if they read too slowly. */
  progress(progress: Progress): void;
  refuse(error: ErrorShape, call: CallId): void;
  /** REST: after this time (milliseconds since 1970) the caller is sent away with the call's name. */
  readonly waitsUntil?: number | undefined;
  /** REST: extends the wait by the time spent waiting for the caller to read. */
  waitLonger?(ms: number): void;
  sendAway(call: CallId, approval: CallApproval | undefined): void;
}
