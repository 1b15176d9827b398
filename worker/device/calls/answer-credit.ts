/**
 * Back-pressure for large answers. Our agent asks before it makes or sends one, and gets credit once that grant's readers
 * keep up: an answer that nobody reads stays on the device, and does not hold up other grants.
 */
import type { CreditRequest } from "@matrx/shared/device-frames.ts";
import type { CallId, GrantId } from "@matrx/shared/ids.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { queuedBytes } from "../../socket.ts";
import type { DeviceLink } from "../connection.ts";
import type { PendingCall } from "../ledger/call.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Calls } from "./calls.ts";

/** Bytes that readers have not taken yet. */
interface Queued {
  of: (grant: GrantId) => number;
  total: () => number;
}

export interface AnswerCreditParts {
  calls: Pick<Calls, "pendingCalls" | "apply">;
  link: Pick<DeviceLink, "send" | "reply">;
  ledger: Pick<Ledger, "find">;
  queued: Queued;
}

interface Asked {
  readonly pending: PendingCall;
  readonly bytes: number;
  readonly since: number;
}

/** No event tells when a socket has been read: while answers wait, its queue is polled this often, in milliseconds. */
const LOOK_EVERY = 25;

export class AnswerCredit {
  readonly #parts: AnswerCreditParts;
  readonly #asked = new Map<string, Asked>();
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(parts: AnswerCreditParts) {
    this.#parts = parts;
  }

  /** Number of answers waiting for credit. */
  get waiting(): number {
    return [...this.#asked.values()].filter(waits).length;
  }

  /** The device asks for credit for one answer; it asks again if it hears nothing. */
  ask({ tool_call_id: call, bytes }: CreditRequest, now: number): void {
    const { calls, link, ledger } = this.#parts;
    const pending = calls.pendingCalls.get(call);
    const asked = this.#asked.get(call);
    if (asked && waits(asked)) return;
    if (pending && !asked) {
      calls.apply(pending, "credit_asked", now);
      if (pending.phase !== "answer_waits") return;
      this.#asked.set(call, { pending, bytes, since: now });
      this.#give(now);
    } else if (asked || ledger.find(call as CallId)) {
      link.reply({ type: "credit", tool_call_ids: [call] });
    } else {
      link.reply({ type: "tool_cancel", tool_call_id: call });
    }
  }

  /** The answer arrived, or nobody waits for it any more. */
  settled(call: string): void {
    if (this.#asked.size > 0 && this.#asked.delete(call)) this.look();
  }

  /** Checks whether readers have taken something. */
  look(now: number = Date.now()): void {
    if (this.#asked.size > 0) this.#give(now);
  }

  /** The agent asks again on the next connection for answers that are still waiting. */
  linkChanged(now: number): void {
    for (const asked of this.#asked.values()) if (waits(asked)) this.#resume(asked, now);
    this.#asked.clear();
  }

  #give(now: number): void {
    clearTimeout(this.#timer);
    const room = new Room(this.#parts.queued, this.#asked.values());
    const given: string[] = [];
    const overdue: PendingCall[] = [];
    let waiting = false;
    for (const [call, asked] of this.#asked) {
      if (!waits(asked)) continue;
      if (now - asked.since >= TIMES.answerWaits) {
        // Refusing one call re-enters this method, which must not find the others.
        this.#asked.delete(call);
        overdue.push(asked.pending);
      } else if (room.take(asked)) {
        this.#resume(asked, now);
        given.push(call);
      } else waiting = true;
    }
    if (given.length > 0) this.#parts.link.send({ type: "credit", tool_call_ids: given });
    if (waiting) this.#timer = setTimeout(() => this.look(), LOOK_EVERY);
    for (const pending of overdue) this.#parts.calls.apply(pending, "unread", now);
  }

  /** Restarts the call's clocks, extended by the time it waited. */
  #resume({ pending, since }: Asked, now: number): void {
    this.#parts.calls.apply(pending, "credit_given", now);
    pending.deadline += now - since;
    for (const recipient of pending.recipients) recipient.waitLonger?.(now - since);
  }
}

/** Still without credit; the others are on their way from the device. */
function waits({ pending }: Asked): boolean {
  return pending.phase === "answer_waits";
}

/** What is already in transit, to decide who may be next. */
class Room {
  readonly #queued: Queued;
  readonly #ofGrant = new Map<GrantId, number>();
  readonly #ofSocket = new Map<WebSocket, number>();
  readonly #fullGrants = new Set<GrantId>();
  /** Those without room for more than one answer for each reader. */
  readonly #busyGrants = new Set<GrantId>();
  #total: number;
  #isFull = false;

  constructor(queued: Queued, asked: Iterable<Asked>) {
    this.#queued = queued;
    this.#total = queued.total();
    for (const one of asked) if (!waits(one)) this.#add(one);
  }

  /** First come, first served, except that no grant waits for another grant's readers. */
  take(asked: Asked): boolean {
    const { pending, bytes } = asked;
    const { grant } = pending;
    if (pending.recipients.length === 0) return true;
    if (this.#isFull || this.#fullGrants.has(grant)) return false;
    const [socket] = socketsOf(pending);
    const before = socket ? this.#onSocket(socket) : 0;
    const { callerAnswersBytes, grantAnswersBytes, deviceAnswersBytes } = LIMITS;
    if (!fits(before, bytes, callerAnswersBytes)) return false;
    const own = this.#onGrant(grant);
    // Readers that take nothing hold up those of the same grant last: these have nothing on their way.
    if (before > 0 && !this.#mayHaveMore(grant, own + bytes)) return false;
    // The last share is reserved for grants with nothing in transit, so that other grants' unread answers hold them up last.
    const together = own === 0 ? deviceAnswersBytes : deviceAnswersBytes - grantAnswersBytes;
    if (fits(own, bytes, grantAnswersBytes) && fits(this.#total, bytes, together)) {
      this.#add(asked);
      return true;
    }
    if (own === 0) this.#isFull = true;
    else this.#fullGrants.add(grant);
    return false;
  }

  /** Whether a reader that has something on its way may get more: it does not take the grant's last share. */
  #mayHaveMore(grant: GrantId, together: number): boolean {
    const { callerAnswersBytes, grantAnswersBytes } = LIMITS;
    if (together > grantAnswersBytes - callerAnswersBytes) this.#busyGrants.add(grant);
    return !this.#busyGrants.has(grant);
  }

  #add({ pending, bytes }: Asked): void {
    const { grant } = pending;
    this.#total += bytes;
    this.#ofGrant.set(grant, this.#onGrant(grant) + bytes);
    for (const socket of socketsOf(pending)) this.#ofSocket.set(socket, this.#onSocket(socket) + bytes);
  }

  #onGrant(grant: GrantId): number {
    return this.#ofGrant.get(grant) ?? this.#queued.of(grant);
  }

  #onSocket(socket: WebSocket): number {
    return this.#ofSocket.get(socket) ?? queuedBytes(socket);
  }
}

/** The sockets waiting for a call, its own caller's first. */
function socketsOf({ recipients }: PendingCall): WebSocket[] {
  return recipients.flatMap(({ socket }) => (socket ? [socket] : []));
}

/** Whether an answer fits; a single one always does. */
function fits(onTheWay: number, bytes: number, most: number): boolean {
  return onTheWay === 0 || onTheWay + bytes <= most;
}
