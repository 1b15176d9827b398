/** One device for one caller, as the MCP server uses it. */
import type * as z from "zod";
import type { outputEventSchema } from "../api.ts";
import type { CallApproval } from "../approval.ts";
import type { OpenTools } from "../caller/port.ts";
import type { Answer } from "../caller/to-caller.ts";
import type { Progress } from "../content.ts";
import { type ErrorShape, relayError } from "../errors.ts";
import type { CallId, SessionId } from "../ids.ts";
import type { WantedView } from "../model-view.ts";

/** Why a signal was aborted whose client said nothing: its connection ended. Only a client's word cancels a call. */
export const CLIENT_GONE = "The client's connection ended";

export interface McpCall {
  readonly tool: string;
  readonly input: Record<string, unknown>;
  readonly session: SessionId;
  /** Whether anybody reads the live output. */
  readonly live: boolean;
  /** Whether the client is told the call's name as soon as a person is asked, not only if that takes long. */
  readonly isNamedEarly: boolean;
}

/** A piece of live output; `offset` counts bytes of the job's log. */
export type OutputPiece = Pick<z.infer<typeof outputEventSchema>, "channel" | "offset" | "data">;

/** Told how a call goes while somebody waits for it. */
export interface CallWatcher {
  output(piece: OutputPiece): void;
  progress(progress: Progress): void;
  /** A person is asked, or has decided. Returns whether to leave at once, with the call's name. */
  asked(approval: CallApproval, call: CallId): boolean;
}

export type CallEnd =
  | { readonly kind: "answer"; readonly answer: Answer }
  /** `isBroken`: only the connection ended, and the call may go on. */
  | { readonly kind: "refused"; readonly error: ErrorShape; readonly isBroken?: true }
  /** It goes on, or waits for a person; `wait` will have its end. */
  | { readonly kind: "pending"; readonly call: CallId; readonly approval: CallApproval | undefined };

/** The end of a call whose reader has left it before. */
export function brokenOff(call: CallId): CallEnd {
  const error = relayError("OUTCOME_UNKNOWN", "The connection ended before the call did", {
    hint: `Wait for the call ${call} to learn how it ended, before you do it again`,
  });
  return { kind: "refused", error: error.shape(), isBroken: true };
}

/** A call that somebody waits for. */
export interface FollowedCall {
  /** Its name: that of an earlier call, where this one is the same. */
  readonly call: CallId;
  readonly end: Promise<CallEnd>;
  /** Waits no longer: what only reads is stopped, the rest goes on. After the end it does nothing. */
  leave(): void | Promise<void>;
}

export interface McpDevice {
  readonly device: string;
  /** The tools that this caller may call, under their own names, and the machine. Rejects with MatrxError. */
  openTools(view?: WantedView): Promise<OpenTools>;
  /** Makes a call, and waits for it a while; aborting the signal stops the call, or only the waiting if the client is gone. Rejects with MatrxError if nothing was sent. */
  call(wanted: McpCall, watcher: CallWatcher, signal: AbortSignal): Promise<CallEnd>;
  /** Waits a while for a call that this caller has made. Rejects with MatrxError `NOT_FOUND`. */
  wait(call: CallId, watcher: CallWatcher, signal: AbortSignal): Promise<CallEnd>;
  cancel(call: CallId): Promise<void>;
  /** Where a person decides on what its calls ask; undefined if there is no such page. */
  readonly approvalsUrl: string | undefined;
  /** Where a call's whole outcome can be read with the same token; undefined if nowhere. */
  recordUrl(call: string): string | undefined;
}
