/** Somebody who owns the relay's disk changes the record: whoever verifies it finds the first wrong entry. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
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
  for (const n of [0, 3, 6]) await record(person).append([draft(n), draft(n + 1), draft(n + 2)]);
  const { seq } = await headOf(person);
  expect(seq).toBe(10);
  expect((await verified(person)).fault).toBeUndefined();
  return person;
}

/** Writes a person's record anew, as somebody can who owns the disk. */
async function tamper(person: Person, change: (lines: string[]) => string[]): Promise<void> {
  await runInDurableObject(record(person), (_, { storage: { sql } }) => {
    const rows = sql.exec<{ lines: string }>("SELECT lines FROM entries ORDER BY first").toArray();
    const lines = change(rows.flatMap((row) => row.lines.split("\n")));
    sql.exec("DELETE FROM entries");
    const { seq, hash } = JSON.parse(lines.at(-1) ?? "") as { seq: number; hash: string };
    const row = [Math.max(1, seq - lines.length + 1), seq, Date.now(), hash, lines.join("\n")];
    sql.exec("INSERT INTO entries (first, last, at, hash, lines) VALUES (?, ?, ?, ?, ?)", ...row);
  });
}

/** Changes the text of one entry. */
function edit(seq: number, from: string | RegExp, to: string) {
  return (lines: string[]) => lines.map((line, index) => (index + 1 === seq ? line.replace(from, to) : line));
}

function swap(lines: string[], one: number, other: number): string[] {
  const swapped = [...lines];
  [swapped[one - 1], swapped[other - 1]] = [lines[other - 1] ?? "", lines[one - 1] ?? ""];
  return swapped;
}

describe("in the real database", () => {
  it.each<[string, FaultKind, number, (lines: string[]) => string[]]>([
    ["an edited text", "edited", 4, edit(4, "tool", "fool")],
    ["another person's name", "edited", 1, edit(1, "signed_in", "signed_out")],
    ["another hash", "edited", 6, edit(6, /"hash":"./, '"hash":"g')],
    ["a dropped entry", "dropped", 5, (lines) => lines.toSpliced(4, 1)],
    ["a dropped beginning", "dropped", 3, (lines) => lines.slice(3)],
    ["two entries in each other's place", "reordered", 4, (lines) => swap(lines, 4, 7)],
  ])("%s is found", async (_, kind, seq, change) => {
    const person = await recorded();
    await tamper(person, change);
    expect((await verified(person)).fault).toMatchObject({ kind, seq });
  });

  it("an end that was cut off is found by whoever kept a head, and only by them", async () => {
    const person = await recorded();
    const kept = await headOf(person);
    await tamper(person, (lines) => lines.slice(0, 7));
    expect((await verified(person)).fault).toBeUndefined();
    expect((await verified(person, [kept])).fault).toMatchObject({ kind: "truncated", seq: 8 });
  });

  it("an end that was written anew is found by whoever kept a head", async () => {
    const person = await recorded();
    const kept = await headOf(person);
    await tamper(person, (lines) => lines.slice(0, 7));
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
      // Without its time, since this relay keeps less than others do.
      return { seq: entries.head.seq, hash: entries.head.hash };
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
      const [first] = sql.exec<{ at: number }>("SELECT at FROM entries ORDER BY first LIMIT 1").toArray();
      expect(await entries.prune(Date.now())).toBe((first?.at ?? 0) + 400 * day);
    });
    expect((await headOf(person)).seq).toBe(10);
  });
});

describe("what is told twice is written once", () => {
  it("in one piece, in the next, and after the object slept", async () => {
    const person = await recorded();
    await record(person).append([draft(20), draft(20), draft(8)]);
    expect((await headOf(person)).seq).toBe(11);
    await evictDurableObject(record(person));
    await record(person).append([draft(20), draft(0), draft(21)]);
    expect((await headOf(person)).seq).toBe(12);
    expect((await verified(person)).fault).toBeUndefined();
  });

  it("also if both tell it at once", async () => {
    const person = await recorded();
    const twice = [draft(30), draft(31)];
    await Promise.all([record(person).append(twice), record(person).append(twice)]);
    expect((await headOf(person)).seq).toBe(12);
    expect((await verified(person)).fault).toBeUndefined();
  });
});

it("entries that are too long for one row are in several", async () => {
  const person = await recorded();
  const long = (n: number) => ({ ...draft(n), preview: "x".repeat(300_000) });
  await record(person).append([long(40), long(41), long(42)]);
  expect((await headOf(person)).seq).toBe(13);
  const verdict = await verified(person);
  expect([verdict.entries, verdict.fault]).toEqual([13, undefined]);
});
