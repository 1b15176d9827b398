/** Idempotency keys on the device: one run under each, whatever the call is named, and free again when nothing ran. */
import { join } from "node:path";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import type { Policy } from "@matrx/shared/policy.ts";
import { expect, onTestFinished, test, vi } from "vitest";
import type { CallRequest } from "../../../agent/core/call-request.ts";
import { Dispatcher } from "../../../agent/core/dispatcher.ts";
import { Journal } from "../../../agent/core/journal.ts";
import { Sessions } from "../../../agent/core/sessions.ts";
import { fixedTools } from "../../../agent/core/tool-source.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { OWNER, READER, silentLog, smallTools } from "./small-tools.ts";

function start() {
  const journal = new Journal(join(temporaryFolder(), "journal"));
  onTestFinished(() => journal.close());
  const { tools, runs } = smallTools();
  const policy: Policy = {};
  const dispatcher = new Dispatcher({
    ...{ device: "box-0123456789", sessions: new Sessions(), policy: { current: () => policy } },
    ...{
      log: silentLog,
      checkPaths: async () => undefined,
      lookAtPaths: async () => [],
      lookInside: async () => [],
      tools: fixedTools(tools),
      journal,
    },
  });
  const run = async (call: string, request: Partial<CallRequest> = {}) => {
    const { header, body } = await dispatcher.run({
      ...{ call, tool: "Bash", input: { command: "say hello" }, grant: OWNER, id: call },
      ...{ key: "k", fingerprint: "f", ...request },
    });
    return { header, answer: JSON.parse(Buffer.from(body).toString()) as Answer };
  };
  return { journal, dispatcher, policy, runs, run };
}

test("a key that the relay's storage lost is answered with the outcome of its call, under the new name", async () => {
  const { run, runs, journal } = start();
  const first = await run("a");
  journal.acknowledge(["a"]);
  expect(journal.unacknowledged()).toEqual([]);
  const second = await run("b");
  expect(second.answer).toEqual({ ...first.answer, id: "b", call: "b" });
  expect(second.header).toMatchObject({ call: "b", status: "success", exit: 3 });
  expect(runs.get("Bash")).toBe(1);
});

test("a key whose call still runs is waited for", async () => {
  const { run, runs } = start();
  const request = { input: { command: "sleep", ms: 50 } };
  const [first, second] = await Promise.all([run("a", request), run("b", request)]);
  expect(second.answer).toEqual({ ...first.answer, id: "b", call: "b" });
  expect(runs.get("Bash")).toBe(1);
});

test("a key of another input is a conflict; one of another grant is another key", async () => {
  const { run, runs } = start();
  await run("a");
  expect((await run("b", { fingerprint: "g" })).answer.code).toBe("CONFLICT");
  const other = { ...OWNER, id: "grant_other" as GrantId };
  expect((await run("c", { grant: other })).answer.type).toBe("success");
  expect(runs.get("Bash")).toBe(2);
});

test("a call's name is its grant's: another that gives it learns nothing of it", async () => {
  const { run, runs } = start();
  await run("a", { key: undefined });
  const other = { ...OWNER, id: "grant_other" as GrantId };
  const { answer } = await run("a", { key: undefined, grant: other });
  expect(answer).toMatchObject({ code: "CONFLICT" });
  expect(JSON.stringify(answer)).not.toContain("hello");
  expect(runs.get("Bash")).toBe(1);
});

test.each([
  ["the gate", { grant: READER }, "PERMISSION_DENIED"],
  ["an unknown tool", { tool: "Bsah" }, "TOOL_NOT_FOUND"],
  ["a wrong parameter", { input: { comand: "x" } }, "INVALID_PARAMETERS"],
  ["a bad session", { session: "none" }, "INVALID_PARAMETERS"],
  ["a tool that had no room for it", { input: { command: "full" } }, "RATE_LIMITED"],
])("a call that %s kept from running says so, and leaves its key free", async (_what, refused, code) => {
  const { run, runs } = start();
  const { header } = await run("a", refused);
  expect(header).toMatchObject({ code, ran: false });
  const before = runs.get("Bash") ?? 0;
  expect((await run("b")).header).toMatchObject({ status: "success" });
  expect(runs.get("Bash")).toBe(before + 1);
});

test("a rate leaves the key free", async () => {
  const { run, policy } = start();
  policy.rates = { calls_per_minute: 1 };
  await run("a", { key: "other" });
  expect((await run("b")).header).toMatchObject({ code: "RATE_LIMITED", ran: false });
  policy.rates = { calls_per_minute: 10 };
  expect((await run("c")).header.status).toBe("success");
});

test("a journal that cannot be written leaves the key free", async () => {
  const { run, journal } = start();
  const why = new Error("disk full");
  const begin = vi.spyOn(journal, "begin").mockImplementation(() => Promise.reject(why));
  expect((await run("a")).header).toMatchObject({ code: "INTERNAL", ran: false });
  begin.mockRestore();
  expect((await run("b")).header.status).toBe("success");
});

test("a call that was cancelled before its tool began leaves the key free, and its own name taken", async () => {
  const { run, dispatcher, runs } = start();
  const call = run("a");
  dispatcher.cancel("a");
  expect((await call).header).toMatchObject({ code: "CANCELLED", ran: false });
  expect((await run("a")).header.code).toBe("CANCELLED");
  expect((await run("b")).header.status).toBe("success");
  expect(runs.get("Bash")).toBe(1);
});

test("what a tool did, and did not get through with, keeps the key", async () => {
  const { run, runs } = start();
  const refused = { input: { command: "refuse" } };
  const first = await run("a", refused);
  expect(first.header).toMatchObject({ code: "TOOL_EXECUTION_FAILED" });
  expect(first.header.ran).toBeUndefined();
  expect((await run("b", refused)).answer).toEqual({ ...first.answer, id: "b", call: "b" });
  expect(runs.get("Bash")).toBe(1);
});

test("a read has no key", async () => {
  const { run, runs } = start();
  const read = { tool: "Read", input: { file_path: "/a" } };
  await run("a", read);
  await run("b", read);
  expect(runs.get("Read")).toBe(2);
});

test("a key is free after a day", async () => {
  const { journal } = start();
  await journal.begin("a", "Bash", { grant: "g", key: "k" });
  expect(journal.findByKey("g", "k")?.call).toBe("a");
  expect(journal.findByKey("g", "k", Date.now() + 24 * 60 * 60 * 1000)).toBeUndefined();
  await journal.begin("b", "Bash", { grant: "g", key: "k" });
  expect(journal.findByKey("g", "k")?.call).toBe("b");
});
