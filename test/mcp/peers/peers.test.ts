/** The same list of cases through our server and through others: ours passes all of them. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NEEDS_STRANGERS } from "../strangers.ts";
import { PEERS } from "./programs.ts";
import { CASES, Contestant, type Outcome, table } from "./score.ts";

const rows = new Map<string, Outcome[]>();
let contestants: Contestant[];

describe("servers for a person's files", NEEDS_STRANGERS, () => {
  beforeAll(async () => {
    contestants = await Promise.all(PEERS.map((program) => Contestant.start(program)));
  });
  afterAll(async () => {
    for (const contestant of contestants) await contestant[Symbol.asyncDispose]();
    const names = PEERS.map(({ name }) => name);
    console.log(table(names, rows));
    for (const [name, outcomes] of rows)
      for (const [column, outcome] of outcomes.entries())
        if (outcome.is === "fails") console.log(`${names[column]}: ${name}: ${outcome.why}`);
  });

  it.each(CASES)("$name", async (wanted) => {
    const outcomes = await Promise.all(contestants.map((contestant) => contestant.judge(wanted)));
    rows.set(wanted.name, outcomes);
    const [ours] = outcomes;
    expect(ours).toEqual({ is: "passes" });
  });
});
