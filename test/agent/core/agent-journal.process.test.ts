/** One journal for relay and local callers: what the relay hears of it, and keys that go with the local callers. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { GrantId } from "@matrx/shared/ids.ts";
import { expect, onTestFinished, test } from "vitest";
import { openAgentJournal } from "../../../agent/core/agent-journal.ts";
import { Journal } from "../../../agent/core/journal.ts";
import { LOCAL_GRANT } from "../../../agent/core/journal-entry.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { silentLog } from "./small-tools.ts";

const KINDS = {
  up: { connects: true, serves: false },
  "up --serve": { connects: true, serves: true },
  serve: { connects: false, serves: true },
} as const;

function filesIn(at: string) {
  return {
    ...{ journalFile: join(at, "journal"), localJournalFile: join(at, "local-journal") },
    startLockFile: join(at, "start-lock"),
  };
}

function folder(at = temporaryFolder()) {
  const files = filesIn(at);
  return (kind: keyof typeof KINDS) => {
    const opened = openAgentJournal({ ...files, ...KINDS[kind], log: silentLog });
    onTestFinished(() => opened.close());
    return opened;
  };
}

/** A process that opens the journal as soon as it is asked to, and answers with the call of key `k`. */
async function opener(at: string, kind: keyof typeof KINDS): Promise<() => Promise<unknown>> {
  const options = JSON.stringify({ ...filesIn(at), ...KINDS[kind] });
  const child = fork(join(import.meta.dirname, "open-together.ts"), [options]);
  onTestFinished(async () => {
    const exited = once(child, "exit");
    child.disconnect();
    await exited;
  });
  await once(child, "message");
  return async () => {
    const answer = once(child, "message");
    child.send("go");
    const [said] = await answer;
    return said;
  };
}

async function use(journal: Journal, call: string, key: string | undefined, grant: GrantId = LOCAL_GRANT) {
  await journal.begin(call, "Bash", { grant, key, input: "f" });
  journal.finish(call, {
    header: { call, status: "success", ms: 1 },
    body: Buffer.from(`{"call":"${call}"}`),
  });
}

test("the relay hears nothing of what this machine's programs called", async () => {
  const { journal } = folder()("up --serve");
  journal.noteLedger("box", "ledger-1");
  await use(journal, "remote", "k", "grant_0123456789abcdef" as GrantId);
  await use(journal, "local", "k");
  expect(journal.unacknowledged()).toEqual(["remote"]);
  expect(journal.ledgerOf("box")?.last_calls).toEqual(["remote"]);
  expect(journal.findByKey(LOCAL_GRANT, "k")?.call).toBe("local");
});

test.each([
  ["serve", "up --serve"],
  ["up --serve", "serve"],
  ["serve", "serve"],
  ["up --serve", "up --serve"],
] as const)(
  "a key or a chosen name that was used with %s is known to %s, with its outcome",
  async (before, after) => {
    const start = folder();
    const first = start(before);
    await use(first.journal, "a", "k");
    await first.journal.begin("b", "Bash", { grant: LOCAL_GRANT, key: "l" });
    await use(first.journal, "chosen", undefined);
    first.close();
    const { journal } = start(after);
    expect(journal.findByKey(LOCAL_GRANT, "k")).toMatchObject({
      ...{ call: "a", state: "finished", input: "f", header: { status: "success" } },
      body: new Uint8Array(Buffer.from('{"call":"a"}')),
    });
    expect(journal.findByKey(LOCAL_GRANT, "l")?.call).toBe("b");
    expect(journal.find("chosen")).toMatchObject({
      state: "finished",
      grant: LOCAL_GRANT,
      acknowledged: true,
    });
    expect(journal.started().map(({ call }) => call)).toEqual(["b"]);
  },
);

test("a key is known to a server that begins beside an agent that only connects", async () => {
  const start = folder();
  const both = start("up --serve");
  await use(both.journal, "a", "k");
  both.close();
  start("up");
  expect(start("serve").journal.findByKey(LOCAL_GRANT, "k")?.call).toBe("a");
});

test.each([1, 2, 3])(
  "a key is known to a server that starts together with an agent that only connects (%i)",
  {
    timeout: 30_000,
  },
  async () => {
    const at = temporaryFolder();
    const both = folder(at)("up --serve");
    await use(both.journal, "a", "k");
    both.close();
    const [up, serve] = await Promise.all((["up", "serve"] as const).map((kind) => opener(at, kind)));
    expect(await Promise.all([up?.(), serve?.()])).toEqual([{ call: "a" }, { call: "a" }]);
  },
);

test("a key whose day is over is not taken over", async () => {
  const start = folder();
  const first = start("serve");
  await use(first.journal, "a", "k");
  first.close();
  const tomorrow = Date.now() + 24 * 60 * 60 * 1000;
  const other = new Journal(join(temporaryFolder(), "other"));
  onTestFinished(() => other.close());
  const { journal } = start("serve");
  other.adoptLocalCalls(journal, tomorrow);
  expect(other.find("a")).toBeUndefined();
});

test.each([
  ["up", "up"],
  ["up", "up --serve"],
  ["up --serve", "serve"],
  ["serve", "up --serve"],
  ["serve", "serve"],
] as const)("beside %s there is no %s", (one, other) => {
  const start = folder();
  start(one);
  expect(() => start(other)).toThrow("already running here");
});
