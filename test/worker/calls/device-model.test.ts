/**
 * The real object between callers and a device that keeps a journal as our agent does, whatever happens in whatever order:
 * each call is answered once, no effect runs twice, and what is said not to have run never ran.
 */
import fc from "fast-check";
import { afterEach, expect, it, vi } from "vitest";
import { CallWorld } from "../helpers/call-world.ts";

const LONG = import.meta.env.MODE === "long";
/** For a busy machine: a quiet one takes a twentieth of it. */
const WITHIN = LONG ? 3_600_000 : 240_000;
const RUNS = LONG ? 2000 : 15;

type Model = Record<string, never>;

class Happening implements fc.AsyncCommand<Model, CallWorld> {
  readonly #name: string;
  readonly #happen: (world: CallWorld) => unknown;

  constructor(name: string, happen: (world: CallWorld) => unknown) {
    this.#name = name;
    this.#happen = happen;
  }

  check(): boolean {
    return true;
  }

  async run(_: Model, world: CallWorld): Promise<void> {
    await this.#happen(world);
    await world.settle();
  }

  toString(): string {
    return this.#name;
  }
}

const line = fc.nat({ max: 1 });
const tool = fc.constantFrom("Read", "Bash", "Write");
const wish = fc.record({
  tool,
  key: fc.option(fc.constantFrom("a", "b"), { nil: undefined }),
  stops: fc.boolean(),
});

function happening(name: string, happen: (world: CallWorld) => unknown): fc.Arbitrary<Happening> {
  return fc.constant(new Happening(name, happen));
}

const calls = fc
  .tuple(line, wish)
  .map(([at, one]) => new Happening(`${at} calls ${JSON.stringify(one)}`, (world) => world.call(at, one)));
const callsByRest = tool.map(
  (name) => new Happening(`REST calls ${name}`, (world) => world.callByRest(name)),
);
const answers = fc
  .tuple(fc.nat({ max: 3 }), fc.constantFrom(1, 1, 2))
  .map(
    ([which, times]) => new Happening(`answers ${which} x${times}`, (world) => world.answer(which, times)),
  );
const passes = fc
  .constantFrom(6, 26, 31)
  .map((seconds) => new Happening(`${seconds} s pass`, (world) => world.pass(seconds)));

const happenings = [
  ...[calls, calls, calls, calls, callsByRest, answers, answers, passes],
  line.map((at) => new Happening(`${at} cancels`, (world) => world.cancel(at))),
  line.map((at) => new Happening(`${at} leaves`, (world) => world.leave(at))),
  line.map((at) => new Happening(`${at} is revoked`, (world) => world.revoke(at))),
  happening("answers what nobody asked", (world) => world.answerStray()),
  happening("the link drops", (world) => world.drop()),
  happening("the device connects", (world) => world.connect()),
  happening("the device connects", (world) => world.connect()),
  happening("the device dies", (world) => world.die()),
  happening("the journal is new", (world) => world.loseJournal()),
  happening("the object sleeps", (world) => world.sleep()),
];

afterEach(() => {
  vi.useRealTimers();
});

it("answers each call once and runs each effect once, whatever happens in whatever order", {
  timeout: WITHIN,
}, async () => {
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.commands(happenings, { maxCommands: 20, size: "max" }), async (commands) => {
      const world = await CallWorld.open();
      try {
        await fc.asyncModelRun(() => ({ model: {}, real: world }), commands);
        await world.end();
        runs++;
      } finally {
        vi.useRealTimers();
      }
    }),
    { numRuns: RUNS },
  );
  expect(runs).toBe(RUNS);
});
