/** The record of a real relay, verified at the machine that kept its heads, after somebody changed the relay's disk. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runMatrx } from "../agent/cli/matrx.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { type Ai, Person } from "./person.ts";
import { type Rig, startRig } from "./rig.ts";

let rig: Rig;
let person: Person;
let ai: Ai;
let matrx: Awaited<ReturnType<Person["commandLine"]>>;

const headsFile = () => join(rig.dataDir, "agent", "audit-heads.jsonl");

beforeAll(async () => {
  rig = await startRig();
  person = await Person.signIn(rig);
  ai = await person.grant({ ask: [] });
});

afterAll(() => rig.stop());

/** Reconnected, the agent gets the head as it is now: another than before, since something was called. */
async function keepHead(): Promise<number> {
  await expect.poll(() => rig.isOnline()).toBe(true);
  await ai.call("Glob", { pattern: "*" });
  const before = heads().length;
  rig.line.cut();
  await expect.poll(() => heads().length, { timeout: 60_000 }).toBeGreaterThan(before);
  return Number(heads().at(-1)?.seq);
}

function heads(): { seq: number }[] {
  if (!existsSync(headsFile())) return [];
  const lines = readFileSync(headsFile(), "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as { seq: number });
}

/** The database of the only record that has entries. */
function tamper(...queries: string[]): void {
  const folder = join(rig.dataDir, "objects", "relay-Audit");
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".sqlite"))) {
    const database = new DatabaseSync(join(folder, file));
    const hasEntries = database.prepare("SELECT name FROM sqlite_master WHERE name = 'entries'").get();
    if (hasEntries) for (const query of queries) database.exec(query);
    database.close();
  }
}

test("a record in order is confirmed, with the heads that this machine was given", async () => {
  matrx = await person.commandLine(join(rig.dataDir, "agent"));
  for (let n = 0; n < 5; n++) await ai.call("Glob", { pattern: `*.${n}` });
  await expect
    .poll(async () => (await matrx("audit", "list", "--type", "call")).json.entries)
    .toHaveLength(5);
  await keepHead();
  expect(statSync(headsFile()).mode & 0o777).toBe(0o600);
  const { code, json } = await matrx("audit", "verify");
  expect(json).not.toHaveProperty("fault");
  expect([code, json.compared]).toEqual([0, heads().length]);
});

test("it can be read by its person only", async () => {
  expect((await ai.ask("GET", "/v1/audit")).status).toBe(403);
  expect((await ai.ask("GET", "/v1/audit/export")).status).toBe(403);
});

test("an export is a private file, and nothing is written over", async () => {
  const file = join(temporaryFolder(), "record.csv");
  const home = join(rig.dataDir, "agent");
  const written = () => runMatrx(["audit", "export", "--format", "csv", "--output", file], { home });
  expect(await written()).toMatchObject({ code: 0, stdout: "" });
  expect(readFileSync(file, "utf8")).toContain('"Glob"');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect((await written()).stderr).toContain("EEXIST");
});

test("an entry that somebody edited on the relay's disk is named, with exit code 1", async () => {
  const { entries } = (await matrx("audit", "list", "--type", "call")).json as { entries: { seq: number }[] };
  const seq = Number(entries.at(-1)?.seq);
  const edit = (from: string, to: string) => () =>
    tamper(`UPDATE entries SET lines = replace(lines, '${from}', '${to}')`);
  await rig.restartRelay(edit('"*.0"', '"*.x"'));
  const { code, json } = await matrx("audit", "verify");
  expect([code, json.fault]).toMatchObject([1, { kind: "edited", seq }]);
  await rig.restartRelay(edit('"*.x"', '"*.0"'));
  expect(await matrx("audit", "verify")).toMatchObject({ code: 0 });
});

test("an end that was cut off is noticed here, though the rest fits", async () => {
  const seq = await keepHead();
  await rig.restartRelay(() => tamper(`DELETE FROM entries WHERE last > ${seq - 2}`));
  const { code, json } = await matrx("audit", "verify");
  expect(code).toBe(1);
  expect(json.fault).toMatchObject({ kind: expect.stringMatching(/truncated|edited/) });
});
