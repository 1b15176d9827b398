/** A record that somebody tampered with: the first wrong entry is named. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { GENESIS, hashedText, type KnownHead, type Verdict, verifyChain } from "../../shared/audit-chain.ts";
import { canonicalJson } from "../../shared/canonical-json.ts";

interface Entry {
  seq: number;
  prev: string;
  hash: string;
  [field: string]: unknown;
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** The entry in its place, honestly hashed. */
function chained(seq: number, prev: string, facts: object): Entry {
  const entry = { ...facts, seq, prev };
  return { ...entry, hash: sha256(hashedText(prev, canonicalJson(entry))) };
}

function record(length: number, { from = 1, prev = GENESIS } = {}): Entry[] {
  const entries: Entry[] = [];
  for (let seq = from; seq < from + length; seq++) {
    const facts = { type: "call", tool: "Bash", input: { command: `step ${seq}` } };
    entries.push(chained(seq, entries.at(-1)?.hash ?? prev, facts));
  }
  return entries;
}

const verify = (entries: unknown[], heads: KnownHead[] = []): Promise<Verdict> =>
  verifyChain(entries, { sha256, heads });

const at = (entries: readonly Entry[], seq: number): Entry => {
  const found = entries.find((entry) => entry.seq === seq);
  if (!found) throw new Error(`no entry ${seq}`);
  return found;
};

/** Everything after an entry is hashed anew, so that the chain fits. */
function rehashed(entries: readonly Entry[], from: number): Entry[] {
  const made = entries.slice(0, from - 1);
  for (const { hash: _, ...entry } of entries.slice(from - 1)) {
    const prev = made.at(-1)?.hash ?? GENESIS;
    made.push(chained(made.length + 1, prev, entry));
  }
  return made;
}

describe("a record in order", () => {
  it("is confirmed, with where it begins and ends and how many gaps it tells of", async () => {
    const entries = record(5);
    entries.push(chained(6, at(entries, 5).hash, { type: "gap" }));
    expect(await verify(entries, [at(entries, 3), at(entries, 6)])).toEqual({
      ...{ entries: 6, first: 1, gaps: 1 },
      last: { seq: 6, hash: at(entries, 6).hash },
    });
  });

  it("may be empty", async () => {
    expect(await verify([])).toMatchObject({ entries: 0, first: 0, last: { seq: 0, hash: GENESIS } });
  });

  it("may have lost its oldest entries if it says so itself", async () => {
    const entries = record(9);
    const { seq: until, hash: until_hash } = at(entries, 4);
    const said = chained(10, at(entries, 9).hash, { type: "pruned", until, until_hash });
    expect((await verify([...entries.slice(4), said])).fault).toBeUndefined();
    expect((await verify(entries.slice(4))).fault).toMatchObject({ seq: 4, kind: "dropped" });
    expect((await verify([...entries.slice(5), said])).fault).toMatchObject({ seq: 5, kind: "dropped" });
  });

  it("covers fields that this program does not know, whatever their order", async () => {
    const entry = chained(1, GENESIS, { later: { b: 1, a: [null, "ü"] } });
    expect((await verify([JSON.parse(canonicalJson(entry))])).fault).toBeUndefined();
    expect((await verify([{ ...entry, later: { b: 1, a: [null, "u"] } }])).fault).toMatchObject({ seq: 1 });
    expect((await verify([{ ...entry, added: true }])).fault).toMatchObject({ seq: 1, kind: "edited" });
  });
});

describe("names the first wrong entry", () => {
  const entries = record(8);
  const edit = (seq: number, change: object) =>
    entries.map((entry) => (entry.seq === seq ? { ...entry, ...change } : entry));

  it.each([
    ["edited", 4, edit(4, { tool: "Read" })],
    [
      "edited, and others after it",
      2,
      edit(2, { input: {} }).map((e) => (e.seq === 6 ? { ...e, tool: "" } : e)),
    ],
    ["edited, with a new hash", 4, edit(4, chained(4, at(entries, 3).hash, { type: "call", tool: "Read" }))],
    ["its hash edited", 5, edit(5, { hash: GENESIS })],
    ["what it follows edited", 5, edit(5, { prev: GENESIS })],
    ["not an entry", 3, entries.map((entry) => (entry.seq === 3 ? null : entry))],
    ["the first, said to follow another", 1, [chained(1, at(entries, 8).hash, {}), ...entries.slice(1)]],
  ])("%s", async (_, seq, tampered) => {
    expect((await verify(tampered)).fault).toMatchObject({ seq, kind: "edited" });
  });

  it("dropped", async () => {
    const without = entries.filter(({ seq }) => seq !== 4 && seq !== 5);
    expect((await verify(without)).fault).toMatchObject({ seq: 4, kind: "dropped" });
  });

  it("dropped, with those after it renumbered", async () => {
    const without = entries.filter(({ seq }) => seq !== 4).map((entry, n) => ({ ...entry, seq: n + 1 }));
    expect((await verify(without)).fault).toMatchObject({ seq: 4, kind: "edited" });
  });

  it("reordered, or standing twice", async () => {
    const swapped = [
      ...entries.slice(0, 3),
      at(entries, 6),
      at(entries, 5),
      at(entries, 4),
      ...entries.slice(6),
    ];
    expect((await verify(swapped)).fault).toMatchObject({ seq: 4, kind: "reordered" });
    expect((await verify([...entries, at(entries, 3)])).fault).toMatchObject({ seq: 3, kind: "reordered" });
  });

  it("truncated, if somebody kept a later head", async () => {
    expect((await verify(entries.slice(0, 6))).fault).toBeUndefined();
    expect((await verify(entries.slice(0, 6), [at(entries, 8)])).fault).toMatchObject({
      seq: 7,
      kind: "truncated",
    });
    expect((await verify([], [at(entries, 8)])).fault).toMatchObject({ seq: 1, kind: "truncated" });
  });

  it("rewritten to the end with new hashes: between the last head that still fits and the first that does not", async () => {
    const forged = rehashed(edit(5, { tool: "Read" }), 5);
    expect((await verify(forged)).fault).toBeUndefined();
    const heads = [at(entries, 2), at(entries, 4), at(entries, 7)];
    expect((await verify(forged, heads)).fault).toMatchObject({ seq: 5, kind: "edited" });
  });
});

describe("entries that are said to have been deleted because of their age", () => {
  const day = 24 * 60 * 60_000;
  const NOW = Date.parse("2026-02-12T10:30:00.000Z");

  /** A record whose first entries are gone, and that says so. */
  function pruned(until: number, hash: string): Entry[] {
    const rest = record(5, { from: until + 1, prev: hash });
    const facts = { type: "pruned", at: new Date(NOW).toISOString(), until, until_hash: hash };
    return [...rest, chained(until + 6, rest.at(-1)?.hash ?? "", facts)];
  }

  const whole = record(20);
  const hashOf = (seq: number) => whole[seq - 1]?.hash ?? "";
  const headAt = (seq: number, at: number): KnownHead => ({
    ...{ seq, hash: hashOf(seq), at: new Date(at).toISOString() },
  });
  const check = (entries: Entry[], heads: KnownHead[]) => verifyChain(entries, { sha256, heads });

  it("are not missed if they were old enough", async () => {
    const heads = [headAt(3, NOW - 401 * day), headAt(20, NOW - 401 * day)];
    expect((await check(pruned(20, hashOf(20)), heads)).fault).toBeUndefined();
  });

  it("are missed if a head shows that they were written since", async () => {
    const heads = [headAt(3, NOW - 60_000)];
    expect((await check(pruned(20, hashOf(20)), heads)).fault).toMatchObject({ kind: "dropped", seq: 3 });
  });

  it("are known to have been others if a head says so", async () => {
    const forged = pruned(20, "ab".repeat(32));
    expect((await check(forged, [headAt(20, NOW - 401 * day)])).fault).toMatchObject({
      ...{ kind: "edited", seq: 20 },
    });
  });
});

it("of two heads that contradict each other, one is wrong in any order", async () => {
  const entries = record(5);
  const [good, bad] = [
    { seq: 3, hash: entries[2]?.hash ?? "" },
    { seq: 3, hash: "0".repeat(64) },
  ];
  for (const heads of [
    [good, bad],
    [bad, good],
  ])
    expect((await verifyChain(entries, { sha256, heads })).fault).toMatchObject({ kind: "edited" });
});
