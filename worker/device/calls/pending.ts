/** Calls that are under way, in memory; those of sockets older than five seconds also stand in the socket's attachment. */
import type { Effect } from "@matrx/shared/effects.ts";
import type { CallId, GrantId } from "@matrx/shared/ids.ts";
import type { Recipient } from "./types.ts";

export interface PendingCall {
  readonly call: CallId;
  /** Empty after a sleep. */
  readonly tool: string;
  /** The caller's id; REST has none. */
  id?: string | undefined;
  readonly effect: Effect;
  readonly grant: GrantId;
  readonly created: number;
  /** Later by what the answer waited for its readers. */
  deadline: number;
  /** The caller, then its followers (`follow`). Empty: they left; an effect's outcome is kept. */
  recipients: Recipient[];
  /** A row stands in the ledger. */
  ledgered: boolean;
  /** The frame, to be sent again after a reconnect; absent when large, after a sleep, or under another policy. */
  frame?: string | undefined;
  /** Its frame has not left: the device is asked for a sign of life first. */
  unsent?: boolean | undefined;
  /** Frames of live output left out since the last one that was passed on. */
  missed: number;
  /** Its answer waits at the device for its readers: the call's times stand still. */
  waitsForReaders?: boolean | undefined;
}

/** Frames up to this length are kept for sending again, up to so much of all of them together. */
const KEPT_FRAME_CHARS = 64 * 1024;
const KEPT_FRAMES_CHARS = 8 * 1024 * 1024;

/** A second asker with the same idempotency key gets the first one's answer, under an id of its own. */
export function follow(pending: PendingCall, recipient: Recipient): void {
  recipient.follow();
  pending.recipients.push(recipient);
}

export class PendingCalls {
  readonly #pendingCalls = new Map<CallId, PendingCall>();
  #keptChars = 0;

  get size(): number {
    return this.#pendingCalls.size;
  }

  /** The frame, if it may be kept with its pending call. */
  keepable(frame: string): string | undefined {
    const fits = frame.length <= KEPT_FRAME_CHARS && this.#keptChars + frame.length <= KEPT_FRAMES_CHARS;
    return fits ? frame : undefined;
  }

  add(pending: PendingCall): void {
    this.#pendingCalls.set(pending.call, pending);
    this.#keptChars += pending.frame?.length ?? 0;
  }

  get(call: string): PendingCall | undefined {
    return this.#pendingCalls.get(call as CallId);
  }

  /** Takes a pending call out: it gets its one answer now. */
  take(call: string): PendingCall | undefined {
    const pending = this.#pendingCalls.get(call as CallId);
    if (!pending) return undefined;
    this.#pendingCalls.delete(pending.call);
    this.#keptChars -= pending.frame?.length ?? 0;
    return pending;
  }

  /** Nothing is sent again: the policy that it was let through by, and that it carries, holds no more. */
  forgetFrames(): void {
    for (const pending of this.#pendingCalls.values()) pending.frame = undefined;
    this.#keptChars = 0;
  }

  /** A copy, so that pending calls may be taken out meanwhile. */
  all(): PendingCall[] {
    return [...this.#pendingCalls.values()];
  }
}
