/** Calls in flight, in memory; a socket's calls older than five seconds are also in its attachment. */
import type { CallId } from "@matrx/shared/ids.ts";
import type { PendingCall } from "./call.ts";
import type { Recipient } from "./recipient.ts";

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
