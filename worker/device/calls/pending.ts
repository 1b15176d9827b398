/** Calls in flight, in memory; a socket's calls older than five seconds are also in its attachment. */
import type { CallApproval } from "@matrx/shared/approval.ts";
import type { CallId, GrantId } from "@matrx/shared/ids.ts";
import type { Asked } from "../observing/asked.ts";
import type { CallState, Phase } from "./state.ts";
import type { Recipient } from "./types.ts";

/** A call in flight: the state that `next` in `state.ts` decides on, and its data. */
export interface PendingCall extends CallState {
  readonly call: CallId;
  /** Empty after hibernation, if the call has no row. */
  readonly tool: string;
  /** The caller's id; REST has none. */
  id?: string | undefined;
  readonly grant: GrantId;
  readonly created: number;
  /** Extended by the time that the answer waited for its readers. */
  deadline: number;
  /** The caller, then its followers (`follow`). Empty if all left; an effect's outcome is kept. */
  recipients: Recipient[];
  phase: Phase;
  recorded: boolean;
  isKept?: boolean;
  /** Absent after hibernation, after a policy change, or once sent if it is large. */
  frame?: string | undefined;
  /** What a person is, or was, asked about it. */
  approval?: CallApproval | undefined;
  /** When it was sent, if it waited for a person first; in milliseconds since 1970. */
  releasedAt?: number | undefined;
  /** What those who watch are told of it. Absent after hibernation. */
  asked?: Asked | undefined;
  /** It only fetches the outcome of an earlier call. */
  isReplay?: true;
  /** Frames of live output dropped since the last one passed on. */
  missed: number;
  /** State of the rate at which its progress is passed on. */
  progressed?: number;
}

/** Frames up to this length are kept for resending, up to a total. */
const KEPT_FRAME_CHARS = 64 * 1024;
const KEPT_FRAMES_CHARS = 8 * 1024 * 1024;

/** A second caller with the same idempotency key gets the first one's answer, under its own id. */
export function follow(pending: PendingCall, recipient: Recipient): void {
  recipient.follow();
  pending.recipients.push(recipient);
  if (pending.phase !== "parked") return;
  recipient.parked();
  if (pending.approval) recipient.asked(pending.approval, pending.call);
}

export class PendingCalls {
  readonly #pendingCalls = new Map<CallId, PendingCall>();
  #frameChars = 0;

  get size(): number {
    return this.#pendingCalls.size;
  }

  add(pending: PendingCall): void {
    this.#pendingCalls.set(pending.call, pending);
    this.#frameChars += pending.frame?.length ?? 0;
  }

  get(call: string): PendingCall | undefined {
    return this.#pendingCalls.get(call as CallId);
  }

  /** The frame was sent: keep it if there is room. */
  sent(pending: PendingCall): void {
    const chars = pending.frame?.length ?? 0;
    if (chars > KEPT_FRAME_CHARS || this.#frameChars > KEPT_FRAMES_CHARS) this.dropFrame(pending);
  }

  /** A call has ended. */
  remove(pending: PendingCall): void {
    if (this.#pendingCalls.delete(pending.call)) this.#frameChars -= pending.frame?.length ?? 0;
  }

  /** Prevents resending: the frames carry the old policy, under which they were admitted. */
  forgetFrames(): void {
    for (const pending of this.#pendingCalls.values()) this.dropFrame(pending);
  }

  /** The frame, should it still be sent, carries the grant's scope as it is now; both are JSON. */
  regrant(pending: PendingCall, former: string, scope: string): void {
    const { frame } = pending;
    this.dropFrame(pending);
    // In the frame's head, before anything that a caller wrote unescaped.
    pending.frame = frame?.replace(`,"grant":${former}`, () => `,"grant":${scope}`);
    this.#frameChars += pending.frame?.length ?? 0;
  }

  /** A copy, so that calls may end during iteration. */
  all(): PendingCall[] {
    return [...this.#pendingCalls.values()];
  }

  /** Prevents sending a call again. */
  dropFrame(pending: PendingCall): void {
    this.#frameChars -= pending.frame?.length ?? 0;
    pending.frame = undefined;
  }
}
