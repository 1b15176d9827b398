/**
 * An approval and its call, in any order of events: it never runs without a yes, never twice, and each caller gets one
 * answer, whatever is lost when the object sleeps.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  type ApprovalEvent,
  isOpen,
  next as nextStage,
  type Stage,
} from "../../../worker/device/ledger/approval-state.ts";
import { type CallEvent, type CallState, next } from "../../../worker/device/ledger/call-state.ts";

const RUNS = 5000;

class World {
  stage: Stage = "preparing";
  call: { -readonly [Name in keyof CallState]: CallState[Name] };
  /** Somebody said yes, or the device said that nobody need be asked. */
  yes = false;
  over = false;
  sent = 0;
  /** The device said that it never got what was sent. */
  returned = 0;
  /** Nobody waits for the call any more. */
  isUnwatched = false;
  isCertain = false;
  answers: string[] = [];

  constructor(effect: CallState["effect"]) {
    this.call = { phase: "new", effect, recorded: false };
    this.onCall("parked");
  }

  onApproval(event: ApprovalEvent): void {
    const { to, call } = nextStage(this.stage, event);
    if (!to) return;
    if (event === "allow" || event === "passes") this.yes = true;
    this.over ||= !isOpen(to);
    this.stage = to;
    if (call === "refuse") this.onCall("refused");
    if (call === "release" && this.call.phase === "parked") this.onCall("released");
  }

  onCall(event: CallEvent): void {
    const before = this.call.phase;
    this.call.isKept = this.stage === "sent" && !this.isCertain;
    const { to, row, device, callers } = next(this.call, event);
    if (row === "open") this.call.recorded = true;
    if (event === "released" && to) this.call.frame = "frame";
    if (to) this.call.phase = to;
    if (device === "send") this.sent++;
    if (callers && !this.isUnwatched) this.answers.push(callers);
    expect(callers !== undefined && before === "ended").toBe(false);
    if (event === "cancelled" || (to === "ended" && event !== "gone" && event !== "overdue"))
      this.isCertain = true;
    if (event === "never_came" && (to === "parked" || device === "send")) this.returned++;
    if (before === "ended" && to === "parked") this.isUnwatched = true;
    if (to === "parked" && before !== "new") {
      expect(event).toBe("never_came");
      this.call.frame = undefined;
      this.onApproval("return");
    }
    if (to === "ended") this.onApproval("drop");
    if (device === "send") {
      expect(this.yes).toBe(true);
      expect(this.stage).toBe("sent");
    }
    // Waiting calls are never asked about, answered or run by links that come and go.
    if (before === "parked" && !["released", "refused"].includes(event) && to)
      expect(this.sent).toBeLessThanOrEqual(this.returned);
  }
}

const approvalEvent = fc.constantFrom<ApprovalEvent>(
  "asks",
  "passes",
  "allow",
  "deny",
  "expire",
  "send",
  "desert",
);
const callEvent = fc.constantFrom<CallEvent>(
  ...([
    "cancelled",
    "left",
    "abandoned",
    "sent_away",
    "alive",
    "undeliverable",
    "answered",
    "link_down",
    "link_up",
  ] as const),
  ...([
    "journal_lost",
    "gone",
    "lost",
    "overdue",
    "never_came",
    "policy_changed",
    "revoked",
    "removed",
    "credit_asked",
  ] as const),
);
const events = fc.array(
  fc.oneof(
    approvalEvent.map((event) => ({ on: "approval", event }) as const),
    callEvent.map((event) => ({ on: "call", event }) as const),
  ),
  { maxLength: 40 },
);

it("never runs without a yes, never twice, and is answered once", () => {
  fc.assert(
    fc.property(fc.constantFrom("read" as const, "execute" as const), events, (effect, happened) => {
      const world = new World(effect);
      for (const one of happened) {
        if (one.on === "approval") world.onApproval(one.event);
        else world.onCall(one.event);
        expect(world.call.phase === "parked").toBe(isOpen(world.stage));
      }
      expect(world.sent).toBeLessThanOrEqual(1 + world.returned);
      expect(world.answers.length).toBeLessThanOrEqual(1);
      if (!world.yes) expect(world.sent).toBe(0);
      // Whatever was over stays so.
      if (world.over && world.stage !== "sent") expect(world.sent).toBeLessThanOrEqual(world.returned);
      world.onCall("removed");
      expect(world.answers).toHaveLength(1);
    }),
    { numRuns: RUNS },
  );
});
