import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import type { Policy } from "@matrx/shared/policy.ts";
import { expect, onTestFinished, test } from "vitest";
import type { Outcome } from "../../../agent/core/answers.ts";
import type { CallRequest } from "../../../agent/core/call-request.ts";
import { Dispatcher } from "../../../agent/core/dispatcher.ts";
import { Journal } from "../../../agent/core/journal.ts";
import { Sessions } from "../../../agent/core/sessions.ts";
import { fixedTools } from "../../../agent/core/tool-source.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { OWNER, READER, silentLog, smallTools } from "./small-tools.ts";

function start({ policy = {} as Policy, windDownMs = 1000, path = join(temporaryFolder(), "j") } = {}) {
  const journal = new Journal(path);
  const { tools, runs } = smallTools();
  const dispatcher = new Dispatcher({
    device: "box-0123456789",
    sessions: new Sessions(),
    policy: { current: () => policy },
    log: silentLog,
    checkPaths: async () => undefined,
    lookAtPaths: async () => [],
    lookInside: async () => [],
    ...{ tools: fixedTools(tools), journal, windDownMs },
  });
  onTestFinished(() => {
    expect(dispatcher.runningCalls).toBe(0);
    journal.close();
  });
  const run = async (request: Partial<CallRequest>) =>
    opened(
      await dispatcher.run({
        call: randomUUID(),
        tool: "Read",
        input: {},
        grant: OWNER,
        id: "1",
        ...request,
      }),
    );
  return { dispatcher, journal, runs, run, path };
}

function opened({ header, body }: Outcome) {
  return { header, answer: JSON.parse(Buffer.from(body).toString()) as Answer };
}

test("a read is answered in the caller's shape, and not written down", async () => {
  const { run, journal } = start();
  const { header, answer } = await run({ call: "c1", input: { file_path: "/a" } });
  expect(answer).toEqual({
    ...{ id: "1", type: "success", output: "read /a", call: "c1", device: "box-0123456789" },
    metadata: { cwd: expect.any(String) },
  });
  expect(header).toMatchObject({ call: "c1", tool: "Read", status: "success" });
  expect(header.sha256).toBeUndefined();
  expect(header.preview).toBeUndefined();
  expect(journal.find("c1")).toBeUndefined();
});

test("without the caller's id the answer has the shape of REST", async () => {
  const { run } = start();
  const { answer } = await run({ id: undefined, input: { file_path: "/a" } });
  expect(answer).not.toHaveProperty("id");
  expect(answer.image).toBeNull();
});

test("an effect carries hash and preview, and its command's exit code", async () => {
  const { run } = start();
  const { header, answer } = await run({ tool: "Bash", input: { command: "say token=abcdefgh1234 done" } });
  expect(header).toMatchObject({ status: "success", exit: 3, preview: "token=[redacted] done" });
  expect(header.sha256).toMatch(/^[0-9a-f]{64}$/);
  expect(answer.metadata).toEqual({ exit_code: 3 });
});

test("an image is passed on", async () => {
  const { run } = start();
  const { answer } = await run({ tool: "Bash", input: { command: "image" } });
  expect(answer.image).toEqual({ media_type: "image/png", base64_data: "AAAA" });
});

test("names of AI tool definitions are accepted", async () => {
  const { run } = start();
  const { answer } = await run({ tool: "local_read", input: { file_path: "/a" } });
  expect(answer.output).toBe("read /a");
});

test("an unknown tool is answered with the name that may be meant", async () => {
  const { run } = start();
  const { header, answer } = await run({ tool: "Raed" });
  expect(header).toMatchObject({ status: "error", code: "TOOL_NOT_FOUND" });
  expect(answer).toMatchObject({
    type: "error",
    code: "TOOL_NOT_FOUND",
    hint: 'Did you mean "Read"?',
    hop: "agent",
  });
});

test.each([
  [{ file_path: true }, { field: "file_path" }, "Correct the field and send it again"],
  [{}, { field: "file_path" }, "Correct the field and send it again"],
  [{ file_path: "/a", limits: 1 }, { field: "limits", did_you_mean: "limit" }, 'Did you mean "limit"?'],
  [{ file_path: "/a", zzzzzzzz: 1 }, { field: "zzzzzzzz" }, "Read takes: file_path, limit"],
])("a wrong parameter is named: %j", async (input, details, hint) => {
  const { run, runs } = start();
  const { answer } = await run({ input });
  expect(answer).toMatchObject({ code: "INVALID_PARAMETERS", hop: "tool", hint, metadata: details });
  expect(runs.size).toBe(0);
});

test("the gate is asked again here: a reader's grant, and the device's own policy", async () => {
  const reader = start();
  expect((await reader.run({ tool: "Write", grant: READER })).answer).toMatchObject({
    code: "PERMISSION_DENIED",
    hop: "agent",
  });
  const limited = start({ policy: { allowed_tools: ["Write"] } });
  expect((await limited.run({ input: { file_path: "/a" } })).answer.code).toBe("PERMISSION_DENIED");
});

test("a tool's own error keeps its words; a stranger's stay inside", async () => {
  const { run } = start();
  const own = await run({ tool: "Bash", input: { command: "refuse" } });
  expect(own.answer).toMatchObject({
    ...{
      output: "It could not be done",
      code: "TOOL_EXECUTION_FAILED",
      hint: "Do something else",
      hop: "tool",
    },
    metadata: { path: "/x" },
  });
  const strange = await run({ tool: "Bash", input: { command: "break" } });
  expect(strange.answer.code).toBe("INTERNAL");
  expect(JSON.stringify(strange)).not.toContain("secret of the inside");
  expect(strange.answer.hint).toContain(String(strange.answer.metadata?.incident));
});

test("a deadline stops the tool", async () => {
  const { run } = start();
  const { header, answer } = await run({
    tool: "Bash",
    input: { command: "sleep", ms: 4000 },
    timeoutMs: 30,
  });
  expect(answer).toMatchObject({ code: "TIMEOUT", metadata: { timeout_ms: 30 } });
  expect(header.ms).toBeLessThan(1000);
});

test("a tool that does not listen is not waited for without end", async () => {
  const { run } = start({ windDownMs: 30 });
  const { answer } = await run({ tool: "Bash", input: { command: "deaf", ms: 400 }, timeoutMs: 20 });
  expect(answer.code).toBe("TIMEOUT");
});

test("cancel answers CANCELLED", async () => {
  const { dispatcher, run } = start();
  const call = run({ call: "c1", tool: "Grep" });
  expect(dispatcher.stateOf("c1")).toBe("started");
  expect(dispatcher.cancel("c1")).toBe(true);
  const { header, answer } = await call;
  expect(header).toMatchObject({ status: "cancelled", code: "CANCELLED" });
  expect(answer).toMatchObject({ type: "error", code: "CANCELLED" });
  expect(dispatcher.cancel("c1")).toBe(false);
});

test("an effect that is cancelled before its row is written never runs", async () => {
  const { dispatcher, run, runs } = start();
  const call = run({ call: "c1", tool: "Write", input: { file_path: "/a", content: "x" } });
  dispatcher.cancel("c1");
  expect((await call).answer.code).toBe("CANCELLED");
  expect(runs.get("Write")).toBeUndefined();
  expect(dispatcher.stateOf("c1")).toBe("finished");
});

test("calls run at the same time", async () => {
  const { run, runs, dispatcher } = start();
  const names = Array.from({ length: 20 }, (_, index) => `c${index}`);
  const calls = names.map((call) => run({ call, tool: "Bash", input: { command: "sleep", ms: 100_000 } }));
  await expect.poll(() => runs.get("Bash")).toBe(20);
  for (const call of names) dispatcher.cancel(call);
  for (const { answer } of await Promise.all(calls)) expect(answer.code).toBe("CANCELLED");
});

test("an effect runs once: repeated while it runs, and after", async () => {
  const { run, runs } = start();
  const request = { call: "c1", tool: "Bash", input: { command: "sleep", ms: 20 } };
  const [first, joined] = await Promise.all([run(request), run(request)]);
  expect(joined.answer).toEqual(first.answer);
  const later = await run({ ...request, id: "other" });
  expect(later.answer).toEqual({ ...first.answer, id: "other" });
  expect(later.header).toEqual(first.header);
  expect(runs.get("Bash")).toBe(1);
});

test("the same name with another input is a conflict", async () => {
  const { run, runs } = start();
  const write = (content: string, fingerprint: string) =>
    run({ call: "k1", tool: "Write", input: { file_path: "/a", content }, fingerprint });
  await write("x", "f1");
  expect((await write("y", "f2")).answer.code).toBe("CONFLICT");
  expect(runs.get("Write")).toBe(1);
});

test("a call begun by an agent that died is never run again", async () => {
  const path = join(temporaryFolder(), "journal");
  const before = new Journal(path);
  await before.begin("c1", "Write");
  before.close();
  const { run, runs, dispatcher } = start({ path });
  expect(dispatcher.stateOf("c1")).toBe("unknown");
  const { header, answer } = await run({
    call: "c1",
    tool: "Write",
    input: { file_path: "/a", content: "x" },
  });
  expect(header).toMatchObject({ status: "error", code: "OUTCOME_UNKNOWN" });
  expect(answer.code).toBe("OUTCOME_UNKNOWN");
  expect(runs.size).toBe(0);
});

test("what was refused before it began leaves no row: it may be tried again", async () => {
  const { run, dispatcher } = start();
  await run({ call: "c1", tool: "Write", input: {} });
  expect(dispatcher.stateOf("c1")).toBe("never");
});

test("an answer over the limit of a frame becomes an error that says so", async () => {
  const { run } = start();
  const { answer } = await run({ tool: "Bash", input: { command: `big ${LIMITS.resultFrameBytes}` } });
  expect(answer).toMatchObject({
    code: "PAYLOAD_TOO_LARGE",
    metadata: { limit_bytes: LIMITS.resultFrameBytes },
  });
});

test("live output reaches those who asked for it", async () => {
  const { run } = start();
  const pieces: unknown[] = [];
  await run({ tool: "Bash", input: { command: "say hello" }, onOutput: (piece) => pieces.push(piece) });
  expect(pieces).toEqual([{ channel: "stdout", offset: 0, data: "hello" }]);
});
