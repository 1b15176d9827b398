/** Events on their way to the relay, whatever comes in between. Time is the test's own. */
import type { DeviceEvent } from "@matrx/shared/events.ts";
import { makeEventId } from "@matrx/shared/ids.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { AGAIN_WITHIN, Outbox, PACE, WAITING_MAX } from "../../../agent/events/outbox.ts";
import type { Fold } from "../../../agent/events/report.ts";

const list: Fold = {
  name: "list",
  join: (a, b) => ({ names: [...(a.names as string[]), ...(b.names as string[])] }),
};

function event(type: string, more: Partial<DeviceEvent> = {}): DeviceEvent {
  return { type: "event", id: makeEventId(), event_type: type, data: {}, ...more };
}

const raised = (key: string, data = {}) => event("service_down", { key, data });
const over = (key: string, data = {}) => event("service_down", { key, resolved: true, data });

function drain(outbox: Outbox, now: number): DeviceEvent[] {
  const events: DeviceEvent[] = [];
  for (let next = outbox.take(now); next; next = outbox.take(now)) events.push(next);
  return events;
}

test("a burst leaves at once, the rest one by one", () => {
  const outbox = new Outbox(0);
  for (let n = 0; n < 20; n++) outbox.put(event("note"), undefined, 0);
  expect(drain(outbox, 0)).toHaveLength(PACE.burst);
  expect(outbox.readyIn(0)).toBe(PACE.everyMs);
  expect(drain(outbox, PACE.everyMs - 1)).toHaveLength(0);
  expect(drain(outbox, PACE.everyMs)).toHaveLength(1);
});

test("a condition overtakes a flood of notices", () => {
  const outbox = new Outbox(0);
  for (let n = 0; n < 50; n++) outbox.put(event("note"), undefined, 0);
  drain(outbox, 0);
  outbox.put(raised("wiki"), undefined, 0);
  expect(drain(outbox, PACE.everyMs)).toMatchObject([{ key: "wiki" }]);
});

test("the oldest go while the link is down, and the next event says how many", () => {
  const outbox = new Outbox(0);
  for (let n = 0; n < WAITING_MAX + 7; n++) outbox.put(event("note", { data: { n } }), undefined, 0);
  expect(outbox.unsent).toEqual({ waiting: WAITING_MAX, dropped: 7 });
  const [first, second] = drain(outbox, 0);
  expect(first?.data).toEqual({ n: 7, dropped_events: 7 });
  expect(second?.data).toEqual({ n: 8 });
});

test("the end of a condition that the relay knows is dropped last", () => {
  const outbox = new Outbox(0);
  outbox.put(raised("wiki"), undefined, 0);
  drain(outbox, 0);
  outbox.put(over("wiki"), undefined, 1);
  for (let n = 0; n < 2 * WAITING_MAX; n++) outbox.put(raised(`service ${n}`), undefined, 2);
  const [first] = drain(outbox, 2);
  expect(first).toMatchObject({ key: "wiki", resolved: true, data: { dropped_events: 101 } });
});

test("what repeats is joined while it waits, and counted", () => {
  const outbox = new Outbox(0);
  outbox.put(raised("wiki", { failures: 3 }), undefined, 0);
  const first = outbox.put(event("files", { data: { names: ["a"] } }), list, 0);
  outbox.put(raised("wiki", { failures: 4 }), undefined, 1);
  const second = outbox.put(event("files", { data: { names: ["b"] } }), list, 1);
  expect(second.id).toBe(first.id);
  expect(drain(outbox, 2)).toMatchObject([
    { key: "wiki", data: { failures: 4, folded_events: 1 } },
    { data: { names: ["a", "b"], folded_events: 1 } },
  ]);
});

test("a condition that ended and began again is told as that", () => {
  const outbox = new Outbox(0);
  for (const one of [raised("wiki"), over("wiki"), raised("wiki")]) outbox.put(one, undefined, 0);
  expect(drain(outbox, 0).map(({ resolved }) => resolved)).toEqual([undefined, true, undefined]);
});

test("what a lost link may have swallowed is sent again, the same, before all else", () => {
  const outbox = new Outbox(0);
  outbox.put(event("old"), undefined, 0);
  drain(outbox, 0);
  const lostAt = AGAIN_WITHIN + 10;
  outbox.put(raised("wiki"), undefined, lostAt - 10);
  const [sent] = drain(outbox, lostAt - 10);
  outbox.linkLost(lostAt);
  outbox.put(over("wiki"), undefined, lostAt);
  // Hours may pass until the relay is back.
  expect(drain(outbox, lostAt + 1e7).map(({ id, resolved }) => [id, resolved])).toEqual([
    [sent?.id, undefined],
    [expect.any(String), true],
  ]);
});

test("an event that three links took down with them is counted as dropped", () => {
  const outbox = new Outbox(0);
  outbox.put(event("note"), undefined, 0);
  for (let n = 0; n < 3; n++) {
    expect(drain(outbox, n)).toHaveLength(1);
    outbox.linkLost(n);
  }
  expect(drain(outbox, 3)).toEqual([]);
  expect(outbox.unsent.dropped).toBe(1);
});

test("its pace is well under the relay's", () => {
  expect(PACE.burst * 2).toBeLessThanOrEqual(LIMITS.eventBurst);
  expect(PACE.everyMs).toBeGreaterThan(TIMES.eventEvery);
});

type Step =
  | { do: "raise"; key: number }
  | { do: "resolve"; key: number }
  | { do: "note" }
  | { do: "fold" }
  | { do: "lose" }
  | { do: "wait"; ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom("raise", "resolve"), key: fc.nat(5) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom("note", "fold") }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("lose") }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("wait"), ms: fc.nat(40_000) }) },
) as fc.Arbitrary<Step>;

interface Story {
  put: number;
  sent: { event: DeviceEvent; at: number }[];
  /** The last word on each condition. */
  last: Map<string, boolean>;
}

/** Plays the steps with the link up or down as they come; at the end the link stays up until all has left. */
function play(outbox: Outbox, steps: Step[]): Story {
  const story: Story = { put: 0, sent: [], last: new Map() };
  let now = 0;
  let linked = false;
  const put = (one: DeviceEvent, fold?: Fold) => {
    story.put++;
    outbox.put(one, fold, now);
  };
  const send = () => {
    if (linked) story.sent.push(...drain(outbox, now).map((sent) => ({ event: sent, at: now })));
  };
  for (const one of steps) {
    if (one.do === "wait") {
      now += one.ms;
      linked = true;
    } else if (one.do === "lose") {
      linked = false;
      outbox.linkLost(now);
    } else if (one.do === "note") put(event("note"));
    else if (one.do === "fold") put(event("files", { data: { names: [story.put] } }), list);
    else {
      const key = `${one.key}`;
      story.last.set(key, one.do === "resolve");
      const data = { place: story.put };
      put(one.do === "raise" ? raised(key, data) : over(key, data));
    }
    send();
  }
  linked = true;
  for (let left = outbox.readyIn(now); left !== undefined; left = outbox.readyIn(now)) {
    now += left;
    send();
  }
  return story;
}

const long = { minLength: 1, maxLength: 400, size: "max" } as const;

test("in no span of time does more leave than the pace allows, whatever is sent again", () => {
  fc.assert(
    fc.property(fc.array(step, long), (steps) => {
      const times = play(new Outbox(0), steps).sent.map(({ at }) => at);
      for (const [from, begin] of times.entries()) {
        for (const [to, end] of times.entries()) {
          if (to < from) continue;
          const allowed = PACE.burst + (end - begin) / PACE.everyMs + 1e-6;
          expect(to - from + 1).toBeLessThanOrEqual(allowed);
        }
      }
    }),
    { numRuns: 30 },
  );
});

test("nothing is lost silently: each report left, was joined into another, or was counted", () => {
  fc.assert(
    fc.property(fc.array(step, long), (steps) => {
      const outbox = new Outbox(0);
      const { put, sent } = play(outbox, steps);
      const first = new Map(sent.map(({ event: one }) => [one.id, one]));
      const count = (name: string) =>
        [...first.values()].reduce((sum, { data }) => sum + Number(data?.[name] ?? 0), 0);
      // An event that lost three links left, and is counted besides.
      const all = first.size + count("folded_events") + count("dropped_events") + outbox.unsent.dropped;
      expect(all).toBeGreaterThanOrEqual(put);
      const lose = steps.filter((one) => one.do === "lose").length;
      if (lose < 3) expect(all).toBe(put);
    }),
    { numRuns: 200 },
  );
});

test("a condition's end leaves after its beginning, and the relay ends up with the last word", () => {
  fc.assert(
    fc.property(fc.array(step, long), (steps) => {
      const { sent, last } = play(new Outbox(0), steps);
      const once = [...new Map(sent.map(({ event: one }) => [one.id, one])).values()];
      for (const [key, resolved] of last) {
        const words = once.filter((one) => one.key === key);
        const places = words.map(({ data }) => Number(data?.place));
        expect(places).toEqual(places.toSorted((one, other) => one - other));
        // One that began and was dropped on the way need not be told to be over.
        if (words.length > 0) expect(words.at(-1)?.resolved === true, key).toBe(resolved);
      }
    }),
    { numRuns: 200 },
  );
});
