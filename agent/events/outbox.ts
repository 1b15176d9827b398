/**
 * Events on their way to the relay: bounded, no faster than the relay takes them, and sent again after a link that may
 * have lost them. Knows no clock and no link: `now` is in milliseconds of one clock that never goes back.
 */
import type { DeviceEvent } from "@matrx/shared/events.ts";
import { type Rate, TokenBucket } from "@matrx/shared/rate-limit.ts";
import type { Fold } from "./report.ts";

/** Events that wait for the relay; beyond them the oldest go, and are counted. */
export const WAITING_MAX = 100;
/** Well under what the relay takes (`LIMITS.eventBurst`, `TIMES.eventEvery`), also with what is sent again. */
export const PACE: Rate = { burst: 10, everyMs: 15_000 };
/** What was sent this short a time before a link was lost, in milliseconds, may be lost with it. */
export const AGAIN_WITHIN = 60_000;
/** An event is handed to at most so many links. */
const MOST_TRIES = 3;
/** Reports without a key are joined for this long, in milliseconds. */
const FOLD_WITHIN = 60_000;

interface Waiting {
  event: DeviceEvent;
  readonly since: number;
  readonly fold: Fold | undefined;
  /** Reports that were joined into this event. */
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
  /** Conditions of which the relay heard, and not that they are over. */
  readonly #told = new Set<string>();
  #dropped = 0;

  constructor(now: number, pace: Rate = PACE) {
    this.#bucket = new TokenBucket(pace, now);
  }

  /** Events that wait, and events dropped of which the relay was not told yet. */
  get unsent(): { waiting: number; dropped: number } {
    return { waiting: this.#conditions.length + this.#notices.length, dropped: this.#dropped };
  }

  /** Takes an event; returns it as it waits now, which is an earlier one's if it was joined into that. */
  put(event: DeviceEvent, fold: Fold | undefined, now: number): DeviceEvent {
    const earlier = event.key === undefined ? this.#foldable(event, fold, now) : this.#lastOf(event);
    if (earlier) return joined(earlier, event);
    const lane = event.key === undefined ? this.#notices : this.#conditions;
    lane.push({ event, since: now, fold, folded: 0 });
    if (this.unsent.waiting > WAITING_MAX) this.#drop();
    return event;
  }

  /** The next event to send, with what was joined or dropped before it; undefined: none, or not yet. */
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

  /** Milliseconds until `take` gives one; undefined: nothing waits. */
  readyIn(now: number): number | undefined {
    return this.#hasNext() ? this.#bucket.readyIn(now) : undefined;
  }

  /** The link is gone: what it may have lost is sent again, first. */
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

  /** The last that waits of this condition, if it says the same: raised or over. */
  #lastOf(event: DeviceEvent): Waiting | undefined {
    const last = this.#conditions.findLast((one) => conditionOf(one.event) === conditionOf(event));
    return last?.event.resolved === event.resolved ? last : undefined;
  }

  /** The oldest goes: a notice rather than a condition, and last of all the end of a condition that the relay knows. */
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

/** The earlier event says what the later one does; its id and its time stay. */
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
