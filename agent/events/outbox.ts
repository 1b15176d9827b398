/**
 * Events on their way to the relay: bounded, no faster than the relay accepts them, and sent again if a lost link may have
 * lost them. Independent of clock and link: `now` is in milliseconds of a monotonic clock.
 */
import type { DeviceEvent } from "@matrx/shared/events.ts";
import { type Rate, TokenBucket } from "@matrx/shared/rate-limit.ts";
import type { Fold } from "./report.ts";

/** Limit on events that wait for the relay; beyond it, the oldest are dropped and counted. */
export const WAITING_MAX = 100;
/** Well below what the relay accepts (`LIMITS.eventBurst`, `TIMES.eventEvery`), including what is sent again. */
export const PACE: Rate = { burst: 10, everyMs: 15_000 };
/** Events sent within this time before a link was lost may be lost with it, in milliseconds. */
export const AGAIN_WITHIN = 60_000;
/** How often an event is sent at most, each time on another link. */
const MOST_TRIES = 3;
/** Reports without a key are folded for this long, in milliseconds. */
const FOLD_WITHIN = 60_000;

interface Waiting {
  event: DeviceEvent;
  readonly since: number;
  readonly fold: Fold | undefined;
  /** Number of reports folded into this event. */
  folded: number;
}

interface Sent {
  readonly event: DeviceEvent;
  readonly at: number;
  readonly tries: number;
}

export class Outbox {
  readonly #bucket: TokenBucket;
  /** Conditions go first: a flood of notices must not hold up an alarm. */
  #conditions: Waiting[] = [];
  #notices: Waiting[] = [];
  #sent: Sent[] = [];
  #again: Sent[] = [];
  /** Conditions that the relay was told of, but not that they ended. */
  readonly #told = new Set<string>();
  #dropped = 0;

  constructor(now: number, pace: Rate = PACE) {
    this.#bucket = new TokenBucket(pace, now);
  }

  /** Events that wait, and dropped ones that the relay has not been told about. */
  get unsent(): { waiting: number; dropped: number } {
    return { waiting: this.#conditions.length + this.#notices.length, dropped: this.#dropped };
  }

  /** Takes an event; returns it as it now waits: the earlier one, if it was folded into that. */
  put(event: DeviceEvent, fold: Fold | undefined, now: number): DeviceEvent {
    const earlier = event.key === undefined ? this.#foldable(event, fold, now) : this.#lastOf(event);
    if (earlier) return joined(earlier, event);
    const lane = event.key === undefined ? this.#notices : this.#conditions;
    lane.push({ event, since: now, fold, folded: 0 });
    if (this.unsent.waiting > WAITING_MAX) this.#drop();
    return event;
  }

  /** The next event to send, with counts of what was folded into it or dropped before it; undefined: none, or not yet. */
  take(now: number): DeviceEvent | undefined {
    this.#forget(now);
    if (!this.#hasNext() || !this.#bucket.take(now)) return undefined;
    const again = this.#again.shift();
    if (again) {
      this.#sent.push({ event: again.event, at: now, tries: again.tries + 1 });
      return again.event;
    }
    const next = this.#conditions.shift() ?? this.#notices.shift();
    if (!next) return undefined;
    const event = withCounts(next, this.#dropped);
    this.#dropped = 0;
    this.#note(event);
    this.#sent.push({ event, at: now, tries: 1 });
    return event;
  }

  /** Milliseconds until `take` returns one; undefined if nothing waits. */
  readyIn(now: number): number | undefined {
    return this.#hasNext() ? this.#bucket.readyIn(now) : undefined;
  }

  /** The link is gone: what it may have lost is sent again before anything else. */
  linkLost(now: number): void {
    this.#forget(now);
    const more = this.#sent.filter(({ tries }) => tries < MOST_TRIES);
    this.#dropped += this.#sent.length - more.length;
    this.#again = [...more, ...this.#again];
    this.#sent = [];
  }

  #hasNext(): boolean {
    return this.#again.length + this.#conditions.length + this.#notices.length > 0;
  }

  #forget(now: number): void {
    this.#sent = this.#sent.filter(({ at }) => now - at < AGAIN_WITHIN);
  }

  #foldable({ event_type }: DeviceEvent, fold: Fold | undefined, now: number): Waiting | undefined {
    if (!fold) return undefined;
    return this.#notices.findLast(
      (one) =>
        one.fold?.name === fold.name && one.event.event_type === event_type && now - one.since < FOLD_WITHIN,
    );
  }

  /** The last waiting event of this condition, if it says the same: raised or ended. */
  #lastOf(event: DeviceEvent): Waiting | undefined {
    const last = this.#conditions.findLast((one) => conditionOf(one.event) === conditionOf(event));
    return last?.event.resolved === event.resolved ? last : undefined;
  }

  /** Drops the oldest: notices before conditions, and last of all the end of a condition that the relay knows. */
  #drop(): void {
    const [oldest] = this.#notices.splice(0, 1);
    const dropped = oldest ?? this.#conditions.splice(this.#droppable(), 1)[0];
    if (dropped) this.#dropped += 1 + dropped.folded;
  }

  #droppable(): number {
    const index = this.#conditions.findIndex(
      ({ event }) => !(event.resolved && this.#told.has(conditionOf(event))),
    );
    return Math.max(0, index);
  }

  #note(event: DeviceEvent): void {
    if (event.key === undefined) return;
    if (event.resolved) this.#told.delete(conditionOf(event));
    else this.#told.add(conditionOf(event));
  }
}

function conditionOf({ event_type, key }: DeviceEvent): string {
  return `${event_type} ${key}`;
}

/** The earlier event takes over the later one's content, but keeps its id and time. */
function joined(earlier: Waiting, later: DeviceEvent): DeviceEvent {
  const { event, fold } = earlier;
  const data = fold ? fold.join(event.data ?? {}, later.data ?? {}) : later.data;
  earlier.folded++;
  earlier.event = { ...later, ...(data && { data }), ...identity(event) };
  return earlier.event;
}

function identity({ id, timestamp }: DeviceEvent): Partial<DeviceEvent> {
  return { ...(id !== undefined && { id }), ...(timestamp !== undefined && { timestamp }) };
}

function withCounts({ event, folded }: Waiting, dropped: number): DeviceEvent {
  if (folded + dropped === 0) return event;
  const counts = { ...(folded && { folded_events: folded }), ...(dropped && { dropped_events: dropped }) };
  return { ...event, data: { ...event.data, ...counts } };
}
