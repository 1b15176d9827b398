/** Calls that are under way, in memory; those of sockets older than five seconds also stand in the socket's attachment. */
import type { CallId, GrantId } from "@matrx/shared/ids.ts";
import type { CallState, Phase } from "./state.ts";
import type { Recipient } from "./types.ts";

/** What `next` of `state.ts` decides about, and what belongs to it. */
export interface PendingCall extends CallState {
  readonly call: CallId;
  /** Empty after a sleep. */
  readonly tool: string;
  /** The caller's id; REST has none. */
  id?: string | undefined;
  readonly grant: GrantId;
  readonly created: number;
  /** Later by what the answer waited for its readers. */
  deadline: number;
  /** The caller, then its followers (`follow`). Empty: they left; an effect's outcome is kept. */
  recipients: Recipient[];
  phase: Phase;
  recorded: boolean;
  /** Absent once it left if it is large, after a sleep, or under another policy. */
  frame?: string | undefined;
  /** Frames of live output left out since the last one that was passed on. */
  missed: number;
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

  /** Its frame left: it is kept if there is room. */
  sent(pending: PendingCall): void {
    const chars = pending.frame?.length ?? 0;
    if (chars > KEPT_FRAME_CHARS || this.#frameChars > KEPT_FRAMES_CHARS) this.#dropFrame(pending);
  }

  /** A call has ended. */
  remove(pending: PendingCall): void {
    if (this.#pendingCalls.delete(pending.call)) this.#frameChars -= pending.frame?.length ?? 0;
  }

  /** Nothing is sent again: the policy that it was let through by, and that it carries, holds no more. */
  forgetFrames(): void {
    for (const pending of this.#pendingCalls.values()) this.#dropFrame(pending);
  }

  /** A copy, so that calls may end meanwhile. */
  all(): PendingCall[] {
    return [...this.#pendingCalls.values()];
  }

  #dropFrame(pending: PendingCall): void {
    this.#frameChars -= pending.frame?.length ?? 0;
    pending.frame = undefined;
  }
}
