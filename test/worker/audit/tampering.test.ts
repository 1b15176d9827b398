/** Somebody who owns the relay's disk changes the record: whoever verifies it finds the first wrong entry. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { AuditDraft } from "@matrx/shared/audit.ts";
import type { FaultKind } from "@matrx/shared/audit-chain.ts";
import { describe, expect, it } from "vitest";
import { Entries } from "../../../worker/audit/entries.ts";
import { headOf, recordOf, verified } from "../helpers/record.ts";
import { Person } from "../helpers/relay.ts";

const record = (person: Person) => env.AUDIT.getByName(person.account);

function draft(n: number, at = "2026-02-12T10:30:00.000Z"): AuditDraft {
  return {
    type: "call",
    id: `call-${n}`,
    at,
    call: `${n}`,
    effect: "read",
    status: "success",
    tool: `tool ${n}`,
  };
}

/** A record of ten entries, the first of which tells that its person signed in. */
async function recorded(): Promise<Person> {
  const person = await Person.signIn();
  await record(person).append(Array.from({ length: 9 }, (_, n) => draft(n)));
  const { seq } = await headOf(person);
  expect(seq).toBe(10);
  expect((await verified(person)).fault).toBeUndefined();
  return person;
}

async function tamper(person: Person, ...queries: string[]): Promise<void> {
  await runInDurableObject(record(person), (_, { storage: { sql } }) => {
    for (const query of queries) sql.exec(query);
  });
}

describe("in the real database", () => {
  it.each<[string, FaultKind, number, string[]]>([
    [
      "an edited text",
      "edited",
      4,
      ["UPDATE entries SET entry = replace(entry, 'tool', 'fool') WHERE seq = 4"],
    ],
    [
      "another person's name",
      "edited",
      1,
      ["UPDATE entries SET entry = replace(entry, 'signed_in', 'signed_out') WHERE seq = 1"],
    ],
    [
      "another hash",
      "edited",
      6,
      [
        "UPDATE entries SET hash = replace(hash, 'a', 'b') WHERE seq = 6",
        "UPDATE entries SET hash = replace(hash, '1', '2') WHERE seq = 6",
      ],
    ],
    ["a dropped entry", "dropped", 5, ["DELETE FROM entries WHERE seq = 5"]],
    ["a dropped beginning", "dropped", 3, ["DELETE FROM entries WHERE seq <= 3"]],
    [
      "two entries in each other's place",
      "edited",
      4,
      [
        "UPDATE entries SET seq = -4 WHERE seq = 4",
        "UPDATE entries SET seq = 4 WHERE seq = 7",
        "UPDATE entries SET seq = 7 WHERE seq = -4",
      ],
    ],
  ])("%s is found", async (_, kind, seq, queries) => {
    const person = await recorded();
    await tamper(person, ...queries);
    const { fault } = await verified(person);
    // An entry in another's place says another number than its place has.
    if (seq === 4 && queries.length === 3) expect(fault).toMatchObject({ kind: "reordered", seq: 4 });
    else expect(fault).toMatchObject({ kind, seq });
  });

  it("an end that was cut off is found by whoever kept a head, and only by them", async () => {
    const person = await recorded();
    const kept = await headOf(person);
    await tamper(person, "DELETE FROM entries WHERE seq > 7");
    expect((await verified(person)).fault).toBeUndefined();
    expect((await verified(person, [kept])).fault).toMatchObject({ kind: "truncated", seq: 8 });
  });

  it("an end that was written anew is found by whoever kept a head", async () => {
    const person = await recorded();
    const kept = await headOf(person);
    await tamper(person, "DELETE FROM entries WHERE seq > 7");
    await runInDurableObject(record(person), async (_, { storage: { sql } }) => {
      const forged = new Entries(sql, person.account);
      await forged.append([draft(100), draft(101), draft(102)], Date.now());
    });
    expect((await verified(person)).fault).toBeUndefined();
    const agreed = (await recordOf(person)).find(({ seq }) => seq === 7);
    if (!agreed) throw new Error("no entry 7");
    expect((await verified(person, [agreed, kept])).fault).toMatchObject({ kind: "edited", seq: 8 });
  });
});

describe("old entries go", () => {
  const day = 24 * 60 * 60_000;

  it("by number and by age, and the record says so, so that the rest can still be verified", async () => {
    const person = await recorded();
    const kept = await runInDurableObject(record(person), async (_, { storage: { sql } }) => {
      const entries = new Entries(sql, person.account, { entries: 6, age: 10 * day });
      await entries.prune(Date.now());
      await entries.append([draft(50)], Date.now());
      return entries.head;
    });
    const rest = await recordOf(person);
    expect(rest[0]?.seq).toBe(5);
    expect(rest.find(({ type }) => type === "pruned")).toMatchObject({ until: 4 });
    expect(await verified(person, [kept])).toMatchObject({ first: 5, last: { seq: 12 } });
    expect((await verified(person, [kept])).fault).toBeUndefined();
    await runInDurableObject(record(person), async (_, { storage: { sql } }) => {
      const entries = new Entries(sql, person.account, { entries: 6, age: 10 * day });
      expect(await entries.prune(Date.now() + 11 * day)).toBeGreaterThan(Date.now());
    });
    expect(await recordOf(person)).toMatchObject([{ type: "pruned", until: 12, seq: 13 }]);
    expect((await verified(person, [kept])).fault).toBeUndefined();
  });

  it("does nothing while there is nothing old, and says when there will be", async () => {
    const person = await recorded();
    await runInDurableObject(record(person), async (_, { storage: { sql } }) => {
      const entries = new Entries(sql, person.account);
      const [first] = sql.exec<{ at: number }>("SELECT at FROM entries ORDER BY seq LIMIT 1").toArray();
      expect(await entries.prune(Date.now())).toBe((first?.at ?? 0) + 400 * day);
    });
    expect((await headOf(person)).seq).toBe(10);
  });
});
