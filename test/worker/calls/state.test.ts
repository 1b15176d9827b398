/** Every state of a call and every event: what becomes of it, and what is done. */
import { describe, expect, it } from "vitest";
import {
  type CallEvent,
  type CallState,
  next,
  type Phase,
  type Step,
} from "../../../worker/device/ledger/call-state.ts";

const STEPS: Readonly<Record<string, Step>> = {
  "-": {},
  send: { to: "delivered", device: "send" },
  doubt: { to: "in_doubt" },
  wait: { to: "answer_waits" },
  "go on": { to: "delivered" },
  stop: { device: "stop" },
  record: { row: "open" },
  answer: { to: "ended", callers: "answer" },
  keep: { to: "ended", row: "outcome", callers: "answer" },
  refuse: { to: "ended", callers: "refusal" },
  "stop, refuse": { to: "ended", device: "stop", callers: "refusal" },
  expire: { to: "ended", row: "expired", callers: "refusal" },
  unknown: { to: "ended", callers: "unknown" },
  "stop, unknown": { to: "ended", device: "stop", callers: "unknown" },
  lost: { to: "ended", row: "unknown", callers: "unknown" },
  forget: { to: "ended" },
  "stop, forget": { to: "ended", device: "stop" },
  "late outcome": { row: "outcome" },
  "late expired": { row: "expired" },
  "late unknown": { row: "unknown" },
};

/** Columns: the phase, and `+` where a row stands in the ledger. `a / b`: with the frame at hand, and without. */
const TABLE = `
                | accepted | accepted + | delivered     | delivered +   | in_doubt      | in_doubt +    | answer_waits  | answer_waits + | ended | ended +
 admitted       | -        | -          | -             | -             | -             | -             | -             | -              | -     | -
 cancelled      | refuse   | expire     | stop          | stop          | stop          | stop          | stop          | stop           | stop  | stop
 unstoppable    | -        | -          | refuse        | refuse        | refuse        | refuse        | refuse        | refuse         | -     | -
 left           | forget   | -          | forget        | -             | forget        | -             | forget        | -              | -     | -
 abandoned      | refuse   | expire     | stop, forget  | stop          | stop, forget  | stop          | stop, forget  | stop           | -     | -
 sent_away      | record   | -          | record        | -             | record        | -             | record        | -              | -     | -
 alive          | send     | send       | -             | -             | -             | -             | -             | -              | -     | -
 undeliverable  | refuse   | expire     | refuse        | expire        | refuse        | expire        | refuse        | expire         | -     | -
 answered       | answer   | keep       | answer        | keep          | answer        | keep          | answer        | keep           | -     | late outcome
 credit_asked   | -        | -          | wait          | wait          | wait          | wait          | -             | -              | -     | -
 credit_given   | -        | -          | -             | -             | -             | -             | go on         | go on          | -     | -
 unread         | -        | -          | -             | -             | -             | -             | stop, refuse  | stop, unknown  | -     | -
 link_down      | -        | -          | doubt         | doubt         | doubt         | doubt         | doubt         | doubt          | -     | -
 link_up        | send     | send       | send / refuse | doubt         | send / refuse | doubt         | send / refuse | doubt          | -     | -
 journal_lost   | -        | -          | -             | lost          | -             | lost          | -             | lost           | -     | late unknown
 gone           | refuse   | expire     | refuse        | unknown       | refuse        | unknown       | refuse        | unknown        | -     | -
 never_came     | -        | -          | -             | -             | send / refuse | send / expire | -             | -              | -     | late expired
 expired        | -        | -          | -             | -             | refuse        | expire        | -             | -              | -     | late expired
 lost           | -        | -          | unknown       | lost          | unknown       | lost          | unknown       | lost           | -     | late unknown
 overdue        | refuse   | expire     | stop, refuse  | stop, unknown | stop, refuse  | stop, unknown | -             | -              | -     | -
 policy_changed | refuse   | expire     | -             | -             | -             | -             | -             | -              | -     | -
 revoked        | refuse   | expire     | stop, refuse  | stop, refuse  | stop, refuse  | stop, refuse  | stop, refuse  | stop, refuse   | -     | -
 removed        | refuse   | refuse     | refuse        | refuse        | refuse        | refuse        | refuse        | refuse         | -     | -
`;

const [head = [], ...rows] = TABLE.trim()
  .split("\n")
  .map((line) => line.split("|").map((cell) => cell.trim()));
/** The corner of the table was trimmed away. */
const columns = head.filter((cell) => cell !== "");

const cases = rows.flatMap(([event = "", ...cells]) =>
  cells.map((cell, n) => ({ event: event as CallEvent, column: columns[n] ?? "", cell })),
);

function stateOf(column: string, frame: string | undefined): CallState {
  const [phase] = column.split(" ") as [Phase];
  return { phase, effect: "execute", recorded: column.endsWith("+"), frame };
}

describe("a call", () => {
  it.each(cases)("that is $column, $event: $cell", ({ event, column, cell }) => {
    const [withFrame = "", without = withFrame] = cell.split(" / ");
    expect(next(stateOf(column, "frame"), event)).toEqual(STEPS[withFrame]);
    expect(next(stateOf(column, undefined), event)).toEqual(STEPS[without]);
  });

  it("with an effect has a row before anything leaves, a read has none", () => {
    const call = { phase: "new", recorded: false, frame: "frame" } as const;
    expect(next({ ...call, effect: "read" }, "admitted")).toEqual({ to: "accepted" });
    for (const effect of ["write", "execute"] as const)
      expect(next({ ...call, effect }, "admitted")).toEqual({ to: "accepted", row: "open" });
    for (const { event } of cases)
      if (event !== "admitted") expect(next({ ...call, effect: "execute" }, event)).toEqual({});
  });

  it("that reads goes on when its readers leave, once somebody was sent away to its record", () => {
    for (const phase of ["delivered", "in_doubt", "answer_waits"] as const)
      expect(next({ phase, effect: "read", recorded: true }, "abandoned")).toEqual({});
  });
});

describe("a call that a person allowed, and that the device never got", () => {
  const kept = (phase: Phase) => ({ phase, effect: "execute", recorded: true, isKept: true }) as const;

  it.each(["in_doubt", "ended"] as const)("waits again if it is %s", (phase) => {
    for (const event of ["never_came", "expired"] as const)
      expect(next(kept(phase), event)).toEqual({ to: "parked" });
  });

  it("is sent as it was if its frame is at hand, and not at all if it did arrive", () => {
    expect(next({ ...kept("in_doubt"), frame: "frame" }, "never_came")).toEqual(STEPS.send);
    expect(next(kept("delivered"), "never_came")).toEqual({});
    expect(next(kept("parked"), "never_came")).toEqual({});
  });
});
