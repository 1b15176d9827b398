/** Rate limits: messages per second and calls per minute, per grant and for the device's own socket. */
import { type Rate, takeOne } from "@matrx/shared/rate-limit.ts";

/** The state of both rates, small enough for a socket's attachment. */
export interface RateState {
  messages: number;
  calls: number;
  /** Only from the previous release, which stored what was left at this time instead. */
  at?: number;
}

export interface RateLimits {
  messages_per_second: number;
  calls_per_minute: number;
}

const GRANTS_KEPT = 32;

export class Rates {
  readonly #states: Map<string, RateState>;

  /** `kept`: what `state()` returned before hibernation, so that hibernating refills nothing early. */
  constructor(kept: readonly (readonly [string, RateState])[] = []) {
    this.#states = new Map(kept);
  }

  /** Counts one message. Returns false if there were too many. */
  takeMessage(key: string, limits: RateLimits, now: number): boolean {
    return this.#take("messages", key, limits, now);
  }

  /** Counts one call. Returns false if there were too many. */
  takeCall(key: string, limits: RateLimits, now: number): boolean {
    return this.#take("calls", key, limits, now);
  }

  /** The states to keep in the attachment: those of the grants that stay limited longest. */
  state(): [string, RateState][] {
    return [...this.#states].sort(([, a], [, b]) => until(b) - until(a)).slice(0, GRANTS_KEPT);
  }

  #take(what: "messages" | "calls", key: string, limits: RateLimits, now: number): boolean {
    const state = this.#of(key, limits);
    const next = takeOne(state[what], rateOf(limits, what), now);
    if (next !== undefined) state[what] = next;
    return next !== undefined;
  }

  #of(key: string, limits: RateLimits): RateState {
    const known = this.#states.get(key);
    if (known && known.at === undefined) return known;
    if (this.#states.size > 8 * GRANTS_KEPT) this.#drop();
    const state = known ? converted(known, known.at ?? 0, limits) : { messages: 0, calls: 0 };
    this.#states.set(key, state);
    return state;
  }

  #drop(): void {
    const kept = this.state();
    this.#states.clear();
    for (const [key, state] of kept) this.#states.set(key, state);
  }
}

function rateOf(limits: RateLimits, what: "messages" | "calls"): Rate {
  const burst = what === "messages" ? limits.messages_per_second : limits.calls_per_minute;
  return { burst, everyMs: (what === "messages" ? 1000 : 60_000) / burst };
}

function until({ messages, calls, at }: RateState): number {
  return at ?? Math.max(messages, calls);
}

/** Converts the previous release's state: what was left at `at`. */
function converted(left: RateState, at: number, limits: RateLimits): RateState {
  const state = (what: "messages" | "calls") => {
    const { burst, everyMs } = rateOf(limits, what);
    return at + (burst - left[what]) * everyMs;
  };
  return { messages: state("messages"), calls: state("calls") };
}
