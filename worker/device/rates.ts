/**
 * Rate limits: messages per second and calls per minute, per grant and for the device's own socket. What a grant used of
 * its calls survives both kinds of sleep (docs/decisions/0023-kept-rates.md): hibernation in the attachment of the
 * device's socket, and the loss of that socket in the storage, which is written rarely.
 */
import { promisedAfter, type Rate, readyIn, takeOne } from "@matrx/shared/rate-limit.ts";

/** The state of both rates, small enough for a socket's attachment. */
export interface RateState {
  messages: number;
  calls: number;
}

export interface RateLimits {
  messages_per_second: number;
  calls_per_minute: number;
  /** So many may come at once, others as the rate refills. */
  calls_at_once: number;
}

/** Until when a grant's calls are used up, in milliseconds since 1970. */
export type StoredRate = readonly [grant: string, until: number];

/** Where states are kept. Both may be called within a call's path, so neither waits. */
export interface RateKeeping {
  /** Puts them into the attachment of the device's socket. Returns false if the device is not connected. */
  attach(states: [string, RateState][]): boolean;
  /** Writes them to the storage; absent ones are forgotten. */
  store(rates: StoredRate[]): void;
}

/** A state, and what is kept of its calls where. */
interface Counted extends RateState {
  attached: number;
  stored: number;
  /** The latest time that a refused one was told, so that the next one is told a time of its own. */
  promised: number;
}

const MINUTE = 60_000;
/** A socket's attachment has room for so many states. */
const ATTACHED_MAX = 64;
/** Beyond this many grants, those that have their whole rate again are forgotten. */
const COUNTED_MAX = 512;
/** What is kept runs ahead by up to this share of the rate, so that a fast grant is kept only once in many calls. */
const ATTACH_STEP = 1 / 20;
const STORE_STEP = 1 / 4;
/** While the device is connected, a grant is stored once it used more than this share. */
const STORE_ABOVE = 1 / 2;

export class Rates {
  readonly #counted = new Map<string, Counted>();
  readonly #keeping: RateKeeping;

  constructor(keeping: RateKeeping) {
    this.#keeping = keeping;
  }

  /** Counts one message. Returns 0, or if there were too many: in how many milliseconds to send the next. */
  takeMessage(key: string, limits: RateLimits, now: number): number {
    const state = this.#limitedBy(limits, key, now);
    const next = takeOne(state.messages, messageRate(limits), now);
    if (next === undefined) return promise(state, limits, now);
    state.messages = next;
    return 0;
  }

  /** Counts one call. Returns 0, or if there were too many: in how many milliseconds to make the next. */
  takeCall(key: string, limits: RateLimits, now: number): number {
    const state = this.#limitedBy(limits, key, now);
    const rate = callRate(limits);
    const next = takeOne(state.calls, rate, now);
    if (next === undefined) return promise(state, limits, now);
    state.calls = next;
    if (next > state.attached) this.#keep(state, rate, now);
    return 0;
  }

  /** The states for the attachment of the device's socket; those for which it has no room are stored. */
  attachable(now: number): [string, RateState][] {
    const limited = this.#limited(now).sort(([, a], [, b]) => b.calls - a.calls);
    const others = limited.splice(ATTACHED_MAX);
    let isNew = false;
    for (const [, state] of others) {
      isNew ||= state.stored < state.calls;
      state.stored = Math.max(state.stored, state.calls);
      state.attached = 0;
    }
    if (isNew) this.#store(now);
    return limited.map(([key, state]) => {
      state.attached = Math.max(state.attached, state.calls);
      return [key, { messages: state.messages, calls: state.attached }];
    });
  }

  /** The device's socket is gone, and its attachment with it. */
  detached(now: number): void {
    let isLimited = false;
    for (const state of this.#counted.values()) {
      isLimited ||= state.calls > now;
      state.attached = 0;
      state.stored = state.calls;
    }
    if (isLimited) this.#store(now);
  }

  /** Restores what an attachment and the storage kept. The attachment is exact, the storage runs ahead. */
  restore(
    attached: readonly (readonly [string, RateState])[],
    stored: readonly StoredRate[],
    now: number,
  ): void {
    const exact = new Set<string>();
    for (const [key, { messages, calls }] of attached) {
      const state = this.#of(key, now);
      state.messages = Math.max(state.messages, messages);
      state.calls = Math.max(state.calls, plausible(calls, now));
      exact.add(key);
    }
    for (const [key, until] of stored) {
      const state = this.#of(key, now);
      state.stored = plausible(until, now);
      if (!exact.has(key)) state.calls = Math.max(state.calls, state.stored);
    }
  }

  #keep(state: Counted, { burst, everyMs }: Rate, now: number): void {
    const whole = burst * everyMs;
    state.attached = state.calls + Math.max(0, whole * ATTACH_STEP - everyMs);
    const isAttached = this.#keeping.attach(this.attachable(now));
    if (isAttached && state.calls - now <= whole * STORE_ABOVE) return;
    if (state.attached <= state.stored) return;
    state.stored = state.attached + whole * STORE_STEP;
    this.#store(now);
  }

  #store(now: number): void {
    const rates: StoredRate[] = [];
    for (const [key, { stored }] of this.#counted) if (stored > now) rates.push([key, stored]);
    this.#keeping.store(rates);
  }

  #limited(now: number): [string, Counted][] {
    return [...this.#counted].filter(
      ([, { messages, calls, attached }]) => messages > now || calls > now || attached > now,
    );
  }

  /** What was kept may have run ahead of these limits. */
  #limitedBy(limits: RateLimits, key: string, now: number): Counted {
    const state = this.#of(key, now);
    const { burst, everyMs } = callRate(limits);
    state.calls = plausible(state.calls, now, burst * everyMs);
    return state;
  }

  #of(key: string, now: number): Counted {
    const known = this.#counted.get(key);
    if (known) return known;
    if (this.#counted.size >= COUNTED_MAX) this.#forgetWhole(now);
    const state = { messages: 0, calls: 0, attached: 0, stored: 0, promised: 0 };
    this.#counted.set(key, state);
    return state;
  }

  #forgetWhole(now: number): void {
    for (const [key, { messages, calls }] of this.#counted)
      if (messages <= now && calls <= now) this.#counted.delete(key);
  }
}

/** A time that the rate could have reached; what is kept may run ahead, and a clock may have been set back since. */
function plausible(until: number, now: number, whole = MINUTE): number {
  return until > now + 2 * MINUTE ? 0 : Math.min(until, now + whole);
}

/** In how many milliseconds the next one is not too early, if all that were refused before come back when they were told. */
function promise(state: Counted, limits: RateLimits, now: number): number {
  const calls = callRate(limits);
  const { everyMs } = readyIn(state.calls, calls, now) > 0 ? calls : messageRate(limits);
  state.promised = promisedAfter(state.promised, now + waitOf(state, limits, now), everyMs, now + MINUTE);
  return Math.ceil(state.promised - now);
}

/** Both rates: a call is a message too, so a wait for only one of them would not be true. */
function waitOf({ messages, calls }: RateState, limits: RateLimits, now: number): number {
  return Math.max(readyIn(messages, messageRate(limits), now), readyIn(calls, callRate(limits), now));
}

function messageRate({ messages_per_second: burst }: RateLimits): Rate {
  return { burst, everyMs: 1000 / burst };
}

function callRate({ calls_per_minute, calls_at_once: burst }: RateLimits): Rate {
  return { burst, everyMs: MINUTE / calls_per_minute };
}
