/** What is kept of rates while the object sleeps, against buckets of tokens that never sleep. */
import { RATES } from "@matrx/shared/limits.ts";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type RateLimits, type RateState, Rates, type StoredRate } from "../../../worker/device/rates.ts";

const START = 1_700_000_000_000;
const GUEST = { messages_per_second: 10, calls_per_minute: 20, calls_at_once: 20 };
const AI = RATES.guest;
const OWNER = RATES.owner;

/** Where a device object keeps its rates: in memory, and what outlives it. */
class Home {
  attachment: [string, RateState][] | undefined = [];
  stored: StoredRate[] = [];
  writes = 0;
  rates = this.#awake(START);

  /** Hibernates or is evicted, and wakes. */
  sleep(now: number): void {
    this.rates = this.#awake(now);
  }

  /** Dies: sockets are lost without a word. */
  crash(now: number): void {
    this.attachment = undefined;
    this.sleep(now);
  }

  disconnect(now: number): void {
    this.attachment = undefined;
    this.rates.detached(now);
  }

  connect(now: number): void {
    this.attachment = this.rates.attachable(now);
  }

  #awake(now: number): Rates {
    const rates = new Rates({
      attach: (states) => {
        if (this.attachment) this.attachment = structuredClone(states);
        return this.attachment !== undefined;
      },
      store: (stored) => {
        this.writes++;
        this.stored = structuredClone(stored);
      },
    });
    rates.restore(structuredClone(this.attachment ?? []), this.stored, now);
    return rates;
  }
}

/** Tokens of one grant, in milliseconds that they take to come back. */
class Bucket {
  readonly #each: number;
  readonly #whole: number;
  #left: number;
  #at = START;

  constructor({ calls_per_minute, calls_at_once }: RateLimits) {
    this.#each = 60_000 / calls_per_minute;
    this.#whole = this.#each * calls_at_once;
    this.#left = this.#whole;
  }

  take(now: number): boolean {
    this.#left = Math.min(this.#whole, this.#left + now - this.#at);
    this.#at = now;
    if (this.#left < this.#each - 0.01) return false;
    this.#left -= this.#each;
    return true;
  }
}

type Step = { pause: number; grant: number; event: "call" | "sleep" | "disconnect" | "connect" };

function steps(events: Step["event"][]): fc.Arbitrary<Step[]> {
  const pause = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 5000 }));
  const event = fc.oneof(
    { weight: 6, arbitrary: fc.constant<Step["event"]>("call") },
    ...events.map((name) => ({ weight: 1, arbitrary: fc.constant(name) })),
  );
  return fc.array(fc.record({ pause, grant: fc.nat(2), event }), { minLength: 50, maxLength: 300 });
}

it("a guest gets exactly the rate, however often the object sleeps", () => {
  fc.assert(
    fc.property(steps(["sleep"]), (list) => {
      const home = new Home();
      const buckets = [new Bucket(GUEST), new Bucket(GUEST), new Bucket(GUEST)];
      let now = START;
      for (const { pause, grant, event } of list) {
        now += pause;
        if (event === "sleep") home.sleep(now);
        else expect(home.rates.takeCall(`g${grant}`, GUEST, now) === 0).toBe(buckets[grant]?.take(now));
      }
    }),
  );
});

it.each([
  ["a guest", GUEST, 90],
  ["an AI", AI, 5],
  ["an owner", OWNER, 5],
])(
  "%s gets no more than the rate, whether the device comes, goes, or the object sleeps",
  (_, limits, slow) => {
    fc.assert(
      fc.property(steps(["sleep", "disconnect", "connect"]), (list) => {
        const home = new Home();
        const buckets = [new Bucket(limits), new Bucket(limits), new Bucket(limits)];
        let now = START;
        for (const { pause, grant, event } of list) {
          now += Math.floor((pause * slow) / 100);
          if (event === "call") {
            if (home.rates.takeCall(`g${grant}`, limits, now) === 0)
              expect(buckets[grant]?.take(now)).toBe(true);
          } else home[event](now);
        }
      }),
    );
  },
);

it("more grants than an attachment has room for are held to it all the same", () => {
  const home = new Home();
  const grants = Array.from({ length: 200 }, (_, n) => `g${n}`);
  for (const grant of grants)
    for (let n = 0; n < 20; n++) expect(home.rates.takeCall(grant, GUEST, START)).toBe(0);
  home.sleep(START);
  for (const grant of grants) expect(home.rates.takeCall(grant, GUEST, START)).toBeGreaterThan(0);
  expect(home.attachment?.length).toBeLessThanOrEqual(64);
});

it.each([
  [20, 0],
  [15, 4],
  [10, 20],
])("after %s calls and a crash, which loses every socket, a guest has %s", (used, left) => {
  const home = new Home();
  for (let n = 0; n < used; n++) expect(home.rates.takeCall("g", GUEST, START)).toBe(0);
  home.crash(START);
  let calls = 0;
  while (home.rates.takeCall("g", GUEST, START) === 0) calls++;
  expect(calls).toBe(left);
});

it("is written to the storage a few times a minute, and only for who uses much of it", () => {
  const home = new Home();
  for (let second = 0; second < 600; second += 6) home.rates.takeCall("g", GUEST, START + second * 1000);
  expect(home.writes).toBe(0);
  for (let second = 600; second < 1200; second++) home.rates.takeCall("g", GUEST, START + second * 1000);
  expect(home.writes).toBeLessThanOrEqual(50);
});

it("the wait is true: one millisecond before is too early, and then it is not", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 1, max: 2000 }),
      (perSecond, perMinute) => {
        const limits = {
          messages_per_second: perSecond,
          calls_per_minute: perMinute,
          calls_at_once: Math.min(perMinute, 60),
        };
        const waited = (early: number) => {
          const { rates } = new Home();
          const call = (now: number) =>
            rates.takeMessage("g", limits, now) || rates.takeCall("g", limits, now);
          let wait = 0;
          while (wait === 0) wait = call(START);
          return call(START + wait - early);
        };
        expect(waited(0)).toBe(0);
        expect(waited(1)).toBeGreaterThan(0);
      },
    ),
  );
});

it("an AI may make 60 calls at once, then one every 200 ms", () => {
  const { rates } = new Home();
  const call = (now: number) => rates.takeMessage("g", AI, now) || rates.takeCall("g", AI, now);
  for (let n = 0; n < 60; n++) expect(call(START)).toBe(0);
  expect(call(START)).toBe(200);
  for (let n = 1; n <= 300; n++) expect(call(START + n * 200)).toBe(0);
  expect(rates.takeCall("g", AI, START + 60_001)).toBeGreaterThan(0);
});

it("those refused at once each have a turn of their own: all who wait as told get through", () => {
  const { rates } = new Home();
  const call = (now: number) => rates.takeMessage("g", AI, now) || rates.takeCall("g", AI, now);
  const waits = Array.from({ length: 100 }, () => call(START)).filter((wait) => wait > 0);
  expect(waits).toHaveLength(40);
  for (const wait of waits) expect(call(START + wait)).toBe(0);
});

it("begins anew when the clock was set back while it slept", () => {
  const home = new Home();
  const hour = START + 60 * 60_000;
  for (let n = 0; n < 20; n++) expect(home.rates.takeCall("g", GUEST, hour)).toBe(0);
  home.sleep(START);
  for (let n = 0; n < 20; n++) expect(home.rates.takeCall("g", GUEST, START)).toBe(0);
  expect(home.rates.takeCall("g", GUEST, START)).toBe(3000);
});
