import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Journal } from "../../../agent/core/journal.ts";
import { mountDrive } from "../../helpers/drive.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { NEEDS_ROOT } from "../../helpers/parts.ts";

function open(path: string, options: ConstructorParameters<typeof Journal>[1] = {}): Journal {
  const journal = new Journal(path, options);
  onTestFinished(() => journal.close());
  return journal;
}

function outcome(call: string, bytes = 10) {
  return { header: { call, status: "success" as const, ms: 1 }, body: Buffer.alloc(bytes, "x") };
}

test("a call goes from never to started to finished, and its outcome is kept", async () => {
  const journal = open(join(temporaryFolder(), "journal"));
  expect(journal.find("c1")).toBeUndefined();
  await journal.begin("c1", "Write", { input: "hash" });
  expect(journal.find("c1")).toMatchObject({ state: "started", input: "hash", body: undefined });
  journal.finish("c1", outcome("c1"));
  const entry = journal.find("c1");
  expect(entry).toMatchObject({ state: "finished", header: outcome("c1").header });
  expect(Buffer.from(entry?.body ?? []).toString()).toBe("xxxxxxxxxx");
});

test("the same call cannot begin twice", async () => {
  const journal = open(join(temporaryFolder(), "journal"));
  await journal.begin("c1", "Write");
  await expect(journal.begin("c1", "Write")).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

test("calls that begin together are written together", async () => {
  const journal = open(join(temporaryFolder(), "journal"));
  const calls = Array.from({ length: 64 }, (_, n) => `c${n}`);
  await Promise.all(calls.map((call) => journal.begin(call, "Write")));
  for (const call of calls) expect(journal.find(call)?.state).toBe("started");
});

test("it is this user's alone", () => {
  const path = join(temporaryFolder(), "journal");
  open(path);
  for (const file of readdirSync(join(path, ".."))) {
    expect(statSync(join(path, "..", file)).mode & 0o077).toBe(0);
  }
});

test("what an agent had begun when it was killed is told to the next one", async () => {
  const path = join(temporaryFolder(), "journal");
  const child = fork(join(import.meta.dirname, "begin-and-hang.ts"), [path]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const [said] = (await once(child, "message")) as [{ id: string }];
  expect(() => new Journal(path)).toThrow(/already running here/);
  child.kill("SIGKILL");
  await once(child, "exit");
  const journal = open(path);
  expect(journal.id).toBe(said.id);
  expect(journal.started().map(({ call }) => call)).toEqual(["begun"]);
  expect(journal.find("ended")?.state).toBe("finished");
  journal.giveUp("begun");
  expect(journal.find("begun")?.state).toBe("unknown");
});

test("a journal of the release before is read, and that release reads what became of it", async () => {
  const path = join(temporaryFolder(), "journal");
  const former = new DatabaseSync(path);
  former.exec(`
    CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
    CREATE TABLE calls (
      call TEXT PRIMARY KEY, tool TEXT NOT NULL, input TEXT, state TEXT NOT NULL, started INTEGER NOT NULL,
      finished INTEGER, header TEXT, body BLOB, bytes INTEGER NOT NULL DEFAULT 0,
      acknowledged INTEGER NOT NULL DEFAULT 0) STRICT;
    CREATE INDEX calls_unacknowledged ON calls (finished) WHERE acknowledged = 0;
    INSERT INTO facts VALUES ('journal_id', 'journal_of_before')`);
  const insert = former.prepare(
    "INSERT INTO calls (call, tool, input, state, started) VALUES (?, ?, ?, ?, ?)",
  );
  insert.run("begun", "Bash", null, "started", Date.now());
  former.close();
  const journal = new Journal(path);
  expect(journal.id).toBe("journal_of_before");
  expect(journal.started()).toMatchObject([{ call: "begun", tool: "Bash", key: undefined }]);
  await journal.begin("new", "Bash", { grant: "g", key: "k" });
  journal.close();
  const again = new DatabaseSync(path);
  again
    .prepare("INSERT INTO calls (call, tool, input, state, started) VALUES ('x', 'Bash', NULL, 'started', 1)")
    .run();
  expect(again.prepare("SELECT call FROM calls ORDER BY rowid").all()).toEqual([
    { call: "begun" },
    { call: "new" },
    { call: "x" },
  ]);
  again.close();
});

test("a journal of a newer program is refused by its name, and stays as it is", async () => {
  const path = join(temporaryFolder(), "journal");
  const first = new Journal(path);
  await first.begin("c1", "Write", { grant: "g", key: "k" });
  first.close();
  const newer = new DatabaseSync(path);
  newer.exec("ALTER TABLE calls ADD COLUMN of_later TEXT; PRAGMA user_version = 99");
  newer.close();
  const before = readFileSync(path);
  expect(() => new Journal(path)).toThrow(
    expect.objectContaining({
      code: "UNAVAILABLE",
      message: expect.stringContaining(`${path} was written by a newer matrx`),
      hint: expect.stringContaining("Update matrx"),
    }),
  );
  expect(readFileSync(path)).toEqual(before);
  expect(readdirSync(join(path, ".."))).toEqual(["journal"]);
});

test("acknowledged outcomes go when the relay keeps them, and stay when they are large", async () => {
  const path = join(temporaryFolder(), "journal");
  const journal = open(path);
  for (const [call, bytes] of [
    ["small", 100],
    ["large", LIMITS.ledgerOutcomeBytes + 1],
    ["open", 100],
  ] as const) {
    await journal.begin(call, "Write");
    journal.finish(call, outcome(call, bytes));
  }
  expect(journal.unacknowledged()).toEqual(["small", "large", "open"]);
  journal.acknowledge(["small", "large", "never-seen"]);
  expect(journal.unacknowledged()).toEqual(["open"]);
  expect(journal.find("small")).toMatchObject({ state: "finished", body: undefined });
  expect(journal.find("large")?.body).toBeDefined();
});

test("the newest calls are told of the ledger that they came by, and of no other device's", async () => {
  const path = join(temporaryFolder(), "journal");
  const journal = open(path);
  await journal.begin("before", "Write");
  expect(journal.ledgerOf("laptop")).toBeUndefined();
  journal.noteLedger("laptop", "ledger_1");
  expect(journal.ledgerOf("laptop")).toEqual({ ledger_id: "ledger_1", last_calls: [] });
  for (let n = 0; n < 20; n++) await journal.begin(`c${n}`, "Write", { grant: "grant_1" });
  journal.noteLedger("laptop", "ledger_1");
  const { last_calls } = journal.ledgerOf("laptop") ?? {};
  expect(last_calls).toEqual(Array.from({ length: LIMITS.lastCalls }, (_, n) => `c${19 - n}`));
  expect(journal.ledgerOf("desktop")).toBeUndefined();
  journal.noteLedger("laptop", "ledger_2");
  journal.close();
  expect(open(path).ledgerOf("laptop")).toEqual({ ledger_id: "ledger_2", last_calls: [] });
});

test("what only waits for its reader is no call that a ledger should have", async () => {
  const path = join(temporaryFolder(), "journal");
  const journal = open(path);
  journal.noteLedger("laptop", "ledger_1");
  await journal.begin("c1", "Write", { grant: "grant_1" });
  journal.keep(outcome("r1"));
  expect(journal.ledgerOf("laptop")?.last_calls).toEqual(["c1"]);
  journal.close();
  expect(open(path).ledgerOf("laptop")?.last_calls).toEqual(["c1"]);
});

test("what waits for its reader never takes the place of a call that may not run twice", async () => {
  const journal = open(join(temporaryFolder(), "journal"));
  await journal.begin("c1", "Write", { grant: "g", key: "k" });
  expect(journal.keep(outcome("c1"))).toBe(false);
  expect(journal.findByKey("g", "k")).toMatchObject({ call: "c1", state: "started", acknowledged: false });
  expect(journal.keep(outcome("r1"))).toBe(true);
  expect(journal.holds("r1")).toBe(true);
  journal.drop("r1");
  expect(journal.find("r1")).toBeUndefined();
});

test("an outcome that a key may be asked for stays, and its key goes when it did not run", async () => {
  const journal = open(join(temporaryFolder(), "journal"));
  for (const key of ["ran", "refused"]) await journal.begin(key, "Write", { grant: "g", key });
  journal.finish("ran", outcome("ran"));
  const { header, body } = outcome("refused");
  journal.finish("refused", { header: { ...header, ran: false }, body });
  journal.acknowledge(["ran", "refused"]);
  expect(journal.unacknowledged()).toEqual([]);
  expect(journal.findByKey("g", "ran")?.body).toBeDefined();
  expect(journal.findByKey("g", "refused")).toBeUndefined();
});

test("acknowledgements are written by themselves", async () => {
  const path = join(temporaryFolder(), "journal");
  const journal = open(path);
  await journal.begin("c1", "Write");
  journal.finish("c1", outcome("c1"));
  journal.acknowledge(["c1"]);
  while (journal.find("c1")?.body) await sleep(20);
});

test("the oldest outcomes make room, acknowledged ones first", async () => {
  const journal = open(join(temporaryFolder(), "journal"), { maxBytes: 250_000 });
  for (const call of ["a", "b", "c"]) {
    await journal.begin(call, "Write");
    journal.finish(call, outcome(call, 80_000));
  }
  journal.acknowledge(["b"]);
  expect(journal.unacknowledged()).toEqual(["a", "c"]);
  await journal.begin("d", "Write");
  journal.finish("d", outcome("d", 80_000));
  const kept = ["a", "b", "c", "d"].filter((call) => journal.find(call)?.body);
  expect(kept).toEqual(["a", "c", "d"]);
});

test("bodies are kept a day, rows two", async () => {
  const journal = open(join(temporaryFolder(), "journal"));
  await journal.begin("c1", "Write");
  journal.finish("c1", outcome("c1"));
  journal.prune(Date.now() + TIMES.outcomeKept + 1000);
  expect(journal.find("c1")).toMatchObject({ state: "finished", body: undefined });
  journal.prune(Date.now() + 2 * TIMES.outcomeKept + 1000);
  expect(journal.find("c1")).toBeUndefined();
});

test("a damaged file is kept aside, and a new journal has a new name", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "journal");
  const first = new Journal(path);
  await first.begin("c1", "Write");
  first.close();
  writeFileSync(path, "this is no database".repeat(500));
  const aside: string[] = [];
  const journal = open(path, { setAside: (to) => aside.push(to) });
  expect(journal.id).not.toBe(first.id);
  expect(aside[0]).toContain("damaged");
  expect(readFileSync(String(aside[0]), "utf8")).toContain("this is no database");
  expect(journal.find("c1")).toBeUndefined();
});

test("a disk that takes no more refuses calls, and ends no agent", () => {
  const script = new URL("fill-and-acknowledge.ts", import.meta.url).pathname;
  const path = join(temporaryFolder(), "journal");
  const line = 'ulimit -f 400; exec "$0" "$@"';
  const said = execFileSync("sh", ["-c", line, process.execPath, script, path], { encoding: "utf8" });
  expect(JSON.parse(said)).toMatchObject({ failures: 1, found: "finished" });
});

test("a call that runs is not forgotten when the clock is set", async () => {
  const journal = open(join(temporaryFolder(), "journal"));
  await journal.begin("c1", "Write");
  journal.prune(Date.now() + 10 * TIMES.outcomeKept);
  expect(journal.find("c1")).toMatchObject({ state: "started" });
});

describe("on a full disk", NEEDS_ROOT, () => {
  const DAY = 24 * 60 * 60 * 1000;

  test("how a call ended is known at once, and written when there is room again", async () => {
    const drive = mountDrive(2);
    const path = join(drive, "journal");
    const journal = open(path);
    await journal.begin("c1", "Write", { grant: "g", key: "k" });
    const filler = fill(drive);
    expect(() => journal.finish("c1", outcome("c1", 50_000))).toThrow(/full/);
    expect(journal.find("c1")).toMatchObject({ state: "finished", header: { call: "c1" } });
    expect(journal.findByKey("g", "k")?.body).toHaveLength(50_000);
    await expect(journal.begin("c2", "Write")).rejects.toMatchObject({ code: "UNAVAILABLE" });

    rmSync(filler);
    await journal.begin("c3", "Write");
    journal.close();
    const next = open(path);
    expect(next.findByKey("g", "k")).toMatchObject({ call: "c1", state: "finished" });
    expect(next.findByKey("g", "k")?.body).toHaveLength(50_000);
    expect(next.started().map(({ call }) => call)).toEqual(["c3"]);
  });

  test("nothing begins that would fit while an outcome does not", async () => {
    const drive = mountDrive(2);
    const journal = open(join(drive, "journal"));
    await journal.begin("c1", "Write");
    const filler = fill(drive, 64 * 1024);
    expect(() => journal.finish("c1", outcome("c1", 500_000))).toThrow(/full/);
    await expect(journal.begin("c2", "Write")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(journal.find("c2")).toBeUndefined();

    rmSync(filler);
    await journal.begin("c2", "Write");
    expect(journal.unacknowledged()).toEqual(["c1"]);
  });

  test("a call that did not run leaves its key free, though that cannot be written", async () => {
    const drive = mountDrive(2);
    const journal = open(join(drive, "journal"));
    await journal.begin("c1", "Write", { grant: "g", key: "k" });
    fill(drive);
    const { header, body } = outcome("c1", 50_000);
    expect(() => journal.finish("c1", { header: { ...header, ran: false }, body })).toThrow(/full/);
    expect(journal.findByKey("g", "k")).toBeUndefined();
  });

  test("an expired key is free, and the next call under it is told of the disk", async () => {
    const drive = mountDrive(2);
    const failed = vi.fn();
    const journal = open(join(drive, "journal"), { failed });
    await journal.begin("c1", "Write", { grant: "g", key: "k" });
    fill(drive);
    expect(journal.findByKey("g", "k", Date.now() + 30 * DAY)).toBeUndefined();
    expect(failed).toHaveBeenCalledOnce();
    await expect(journal.begin("c2", "Write", { grant: "g", key: "k" })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      hint: expect.stringMatching(/free up space/i),
    });
  });
});

/** A file that takes all room of a drive, but for so many bytes. */
function fill(drive: string, but = 0): string {
  const file = join(drive, "filler");
  const { bavail, bsize } = statfsSync(drive);
  writeFileSync(file, Buffer.alloc(bavail * bsize - but));
  return file;
}
