/**
 * A call between a relay, a device and a wire that loses things, in any order of events: it is answered once, an effect
 * runs at most once, and what is said not to have run never runs.
 */
import type { Effect } from "@matrx/shared/effects.ts";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type CallEvent, type CallState, next } from "../../../worker/device/ledger/call-state.ts";

type Row = "none" | "accepted" | "expired" | "unknown" | "finished";
type Journal = "never" | "running" | "finished" | "unknown";
type ToDevice = "execute" | "stop" | "status";
type ToRelay = "answer" | "credit" | Journal;

const RUNS = 5000;

class World {
  readonly call: { -readonly [Name in keyof CallState]: CallState[Name] };
  row: Row = "none";
  journal: Journal = "never";
  runs = 0;
  answers: string[] = [];
  isLinked = true;
  /** Of the link that is up; what is on it is lost with it. */
  toDevice: ToDevice[] = [];
  toRelay: ToRelay[] = [];
  /** The relay said, to its callers or in its record, that the call did not run. */
  saidNotRun = false;

  /** A bare device has no journal: it runs what it gets. */
  readonly isBare: boolean;

  constructor(effect: Effect, isBare: boolean, isSilent: boolean) {
    this.isBare = isBare;
    this.call = { phase: "new", effect, recorded: false, frame: "frame" };
    this.apply("admitted");
    if (!isSilent) this.apply("alive");
  }

  apply(event: CallEvent): void {
    const before = this.call.phase;
    const { to, row, device, callers } = next(this.call, event);
    if (to) this.call.phase = to;
    if (row === "open") this.call.recorded = true;
    if (row === "open") this.row = "accepted";
    if (row === "outcome" && (this.row === "accepted" || this.row === "unknown")) this.row = "finished";
    if ((row === "expired" || row === "unknown") && this.row === "accepted") this.row = row;
    if (row === "expired" && this.row === "expired") this.saidNotRun = true;
    if (device === "stop") this.stop();
    if (device === "send") {
      expect(this.isLinked).toBe(true);
      this.toDevice.push("execute");
    }
    if (callers) this.answers.push(callers);
    expect(callers !== undefined && before === "ended").toBe(false);
    expect(callers !== undefined && to !== "ended").toBe(false);
  }

  stop(): void {
    if (this.isLinked && !this.isBare) this.toDevice.push("stop");
    else this.apply("unstoppable");
  }

  drop(): void {
    if (!this.isLinked) return;
    this.isLinked = false;
    this.toDevice = [];
    this.toRelay = [];
    if (this.call.phase === "accepted") this.apply("undeliverable");
    if (this.call.phase === "answer_waits") this.apply("credit_given");
    this.apply("link_down");
  }

  /** Also while another link is up, which is replaced. */
  connect(journalIsNew: boolean): void {
    this.isLinked = true;
    this.toDevice = [];
    this.toRelay = [];
    if (journalIsNew || this.isBare) this.journal = "never";
    if (this.call.phase === "answer_waits") this.apply("credit_given");
    if (journalIsNew && !this.isBare && this.row === "accepted") this.apply("journal_lost");
    this.apply("link_up");
    if (!this.isBare && this.row === "accepted" && this.call.phase !== "delivered")
      this.toDevice.push("status");
    // The agent sends again what was not acknowledged.
    if (this.journal === "finished") this.toRelay.push("answer");
  }

  /** The device takes what came first. */
  deviceReads(): void {
    const frame = this.toDevice.shift();
    if (frame === "status") this.toRelay.push(this.journal);
    if (frame === "stop" && this.journal === "running") this.finish();
    if (frame !== "execute") return;
    if (this.journal === "finished") this.toRelay.push("answer");
    if (this.journal !== "never") return;
    this.journal = "running";
    this.runs++;
  }

  finish(): void {
    if (this.journal !== "running") return;
    // Reads are not in the journal.
    this.journal = this.call.effect === "read" ? "never" : "finished";
    if (this.isLinked) this.toRelay.push("answer");
  }

  relayReads(isLate: boolean): void {
    const frame = this.toRelay.shift();
    if (frame !== undefined && this.call.phase === "accepted") this.apply("alive");
    if (frame === "answer") this.apply("answered");
    if (frame === "credit") this.apply("credit_asked");
    if (frame === "never") this.apply(isLate ? "expired" : "never_came");
    if (frame === "unknown") this.apply("lost");
  }

  /** The agent's program ends; a journal stays. */
  deviceDies(): void {
    this.drop();
    if (this.journal === "running") this.journal = this.call.effect === "read" ? "never" : "unknown";
  }

  check(): void {
    expect(this.answers.length).toBeLessThanOrEqual(1);
    if (this.call.effect !== "read") {
      expect(this.runs).toBeLessThanOrEqual(1);
      expect(this.row).not.toBe("none");
      if (this.saidNotRun) expect(this.runs).toBe(0);
    }
    if (this.row === "finished") expect(this.runs).toBeGreaterThan(0);
  }
}

type Model = Record<string, never>;

class Happening implements fc.Command<Model, World> {
  readonly #name: string;
  readonly #happen: (world: World) => void;

  constructor(name: string, happen: (world: World) => void) {
    this.#name = name;
    this.#happen = happen;
  }

  check(): boolean {
    return true;
  }

  run(_: Model, world: World): void {
    this.#happen(world);
    world.check();
  }

  toString(): string {
    return this.#name;
  }
}

const HAPPENINGS: Readonly<Record<string, (world: World) => void>> = {
  "the device reads": (world) => world.deviceReads(),
  "the device finishes": (world) => world.finish(),
  "the device asks for credit": (world) => {
    if (world.isLinked && world.journal === "running") world.toRelay.push("credit");
  },
  "the device answers twice": (world) => {
    if (world.isLinked && world.journal === "finished") world.toRelay.push("answer", "answer");
  },
  "the relay reads": (world) => world.relayReads(false),
  "the relay reads late": (world) => world.relayReads(true),
  "the link drops": (world) => world.drop(),
  "the device connects": (world) => world.connect(false),
  "the device dies": (world) => world.deviceDies(),
  "the journal is new": (world) => {
    world.deviceDies();
    world.connect(true);
  },
  "the device is heard": (world) => {
    if (world.isLinked) world.apply("alive");
  },
  "no sign of life": (world) => {
    if (world.call.phase === "accepted") world.apply("undeliverable");
  },
  "the device stays away": (world) => {
    if (!world.isLinked) world.apply("gone");
  },
  "the object sleeps": (world) => {
    if (world.call.phase === "accepted" || world.call.phase === "ended") return;
    world.call.phase = "in_doubt";
    world.call.frame = undefined;
  },
  "the policy changes": (world) => {
    world.apply("policy_changed");
    world.call.frame = undefined;
  },
  ...Object.fromEntries(
    (
      [
        ...["cancelled", "left", "abandoned", "sent_away", "credit_given"],
        ...["unread", "overdue", "revoked", "removed"],
      ] as CallEvent[]
    ).map((event) => [event, (world: World) => world.apply(event)]),
  ),
};

/** What happens most of the time; most of the others end the call. */
const USUAL = /reads|finishes|connects|drops|dies|heard/;

const happenings = Object.entries(HAPPENINGS).flatMap(([name, happen]) => {
  const one = fc.constant(new Happening(name, happen));
  return USUAL.test(name) ? Array.from({ length: 8 }, () => one) : [one];
});

it("is answered once and run once, whatever happens in whatever order", () => {
  const seen = { answered: 0, refused: 0, unknown: 0, again: 0 };
  fc.assert(
    fc.property(
      fc.constantFrom<Effect>("read", "write", "execute"),
      fc.boolean(),
      fc.boolean(),
      fc.commands(happenings, { maxCommands: 40, size: "max" }),
      (effect, isBare, isSilent, commands) => {
        const world = new World(effect, isBare, isSilent);
        fc.modelRun(() => ({ model: {}, real: world }), commands);
        // Whatever is left ends by itself.
        world.apply("credit_given");
        world.apply("overdue");
        expect(world.call.phase).toBe("ended");
        world.check();
        const [answer] = world.answers;
        if (answer === "answer") seen.answered++;
        if (answer === "refusal") seen.refused++;
        if (answer === "unknown") seen.unknown++;
        if (world.runs > 1) seen.again++;
      },
    ),
    { numRuns: RUNS },
  );
  // Nothing of it is there for nothing.
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(RUNS / 500);
});
