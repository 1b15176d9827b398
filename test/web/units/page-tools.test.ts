/** What the page's own tools check before anything reaches a machine. */
import { expect, onTestFinished, test, vi } from "vitest";
import { publishFolder, withdrawFolder } from "../../../web/src/features/files/mounted.ts";
import { HOME } from "../../../web/src/features/files/paths.ts";
import { commandField, executed } from "../../../web/src/features/page-tools/commands.ts";
import { optional, readInput, schemaOf, text, whole } from "../../../web/src/features/page-tools/fields.ts";
import { textOf } from "../../../web/src/features/page-tools/file-text.ts";
import { PageFolders } from "../../../web/src/features/page-tools/folders.ts";
import { Gate, until } from "../../../web/src/features/page-tools/gate.ts";
import { PageSession } from "../../../web/src/features/page-tools/session.ts";
import { TerminalIds } from "../../../web/src/features/page-tools/terminal-ids.ts";
import { defineTool } from "../../../web/src/features/page-tools/tool.ts";
import { toolsFor } from "../../../web/src/features/page-tools/tools/all-tools.ts";

test("parameters are what the schema says", () => {
  const fields = { command: text("x", 5), id: optional(whole("y", 1, 9)) };
  expect(schemaOf(fields)).toEqual({
    type: "object",
    properties: {
      command: { type: "string", minLength: 1, maxLength: 5, description: "x" },
      id: { type: "integer", minimum: 1, maximum: 9, description: "y" },
    },
    required: ["command"],
    additionalProperties: false,
  });
  expect(readInput(fields, { command: "ls" })).toEqual({ command: "ls" });
  expect(readInput({}, undefined)).toEqual({});
  for (const [input, message] of [
    [undefined, "command is required"],
    [null, "one object"],
    [["ls"], "one object"],
    ["ls", "one object"],
    [{ command: "" }, "can't be empty"],
    [{ command: "longer" }, "at most 5"],
    [{ command: "\ud800" }, "half a character"],
    [{ command: "ls", id: "1" }, "whole number"],
    [{ command: "ls", id: 10 }, "from 1 to 9"],
    [{ command: "ls", id: null }, "whole number"],
    [JSON.parse('{"command":"ls","__proto__":1}'), "__proto__"],
    [Object.create({ command: "ls" }), "command is required"],
  ] as const)
    expect(() => readInput(fields, input)).toThrow(message);
});

test("a command that no shell takes is not asked about", () => {
  const problem = (command: string) => commandField.problem(command);
  for (const taken of ["ls", "echo 1\n\techo 2", "echo\r\nls", "é 😀"])
    expect(problem(taken)).toBeUndefined();
  for (const blank of [" ", "\n", "\t"]) expect(problem(blank)).toContain("blank");
  for (const keys of ["\u0003", "a\rb", "a\u001b[A", "a\u007f"]) expect(problem(keys)).toContain("control");
});

test("calls end a minute after the relay went away, and begin again when it is back", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const session = new PageSession("laptop", { toTerminals: () => undefined, toFolder: () => undefined });
  const wait = defineTool({
    ...{ name: "wait", title: "Wait", description: "", reach: "look", isUntrusted: false, needs: [] },
    fields: {},
    handle: (_input, { signal }) => until(new Promise(() => undefined), signal),
  });
  const first = session.run(wait, {});
  session.gate.useState.getState().questions[0]?.answer("look");
  const ended = expect(first).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN", hint: expect.any(String) });
  session.setConnected(false);
  await vi.advanceTimersByTimeAsync(59_000);
  session.setConnected(true);
  await vi.advanceTimersByTimeAsync(60_000);
  session.setConnected(false);
  await vi.advanceTimersByTimeAsync(60_000);
  await ended;
  await expect(session.run(wait, {})).rejects.toMatchObject({ code: "UNAVAILABLE" });
  session.setConnected(true);
  const second = session.run(wait, {});
  await vi.advanceTimersByTimeAsync(0);
  session.stop();
  await expect(second).rejects.toMatchObject({ code: "CANCELLED" });
  session.setConnected(false);
  session.end("left");
  expect(vi.getTimerCount()).toBe(0);
});

test("a text ends with a whole character, and what is no text is refused", () => {
  const bytes = new TextEncoder().encode("aé€😀");
  for (let most = 0; most < bytes.length; most++) {
    const { content, truncated } = textOf(bytes.slice(0, most), true);
    expect("aé€😀".startsWith(content)).toBe(true);
    expect(content).not.toContain("\ufffd");
    expect(truncated).toBe(true);
  }
  expect(textOf(bytes, false)).toEqual({ content: "aé€😀", truncated: false });
  expect(textOf(new TextEncoder().encode("\ufeffa"), false).content).toBe("\ufeffa");
  expect(() => textOf(Uint8Array.of(0x61, 0), false)).toThrow("no text");
  expect(() => textOf(Uint8Array.of(0xff, 0xfe), false)).toThrow("no text");
  expect(() => textOf(bytes.slice(0, -1), false)).toThrow("no text");
});

test("what is asked goes with whoever asked, and one yes opens for all who wait", async () => {
  const gate = new Gate();
  const leaving = new AbortController();
  const { signal } = new AbortController();
  const questions = () => gate.useState.getState().questions;
  const first = gate.enter(leaving.signal);
  leaving.abort(new Error("left"));
  await expect(first).rejects.toThrow("left");
  expect(questions()).toEqual([]);
  const both = Promise.all([gate.enter(signal), gate.enter(signal)]);
  expect(questions()).toHaveLength(1);
  questions()[0]?.answer("act");
  await both;
  const acts = Promise.all(["one", "two"].map((what) => gate.allow({ what }, signal)));
  await expect.poll(() => questions().length).toBe(2);
  questions()[0]?.answer("all");
  await acts;
  await gate.allow({ what: "three" }, signal);
  gate.close();
  await expect(gate.enter(signal)).rejects.toMatchObject({ code: "APPROVAL_DENIED" });
});

test("who asks on and on is silent for a minute after three noes, and so is what waits", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const gate = new Gate();
  const { signal } = new AbortController();
  const questions = () => gate.useState.getState().questions;
  const denied = { code: "APPROVAL_DENIED" };
  const entered = gate.enter(signal);
  questions()[0]?.answer("act");
  await entered;
  const asked = async (answer: "deny" | "once") => {
    const allowed = gate.allow({ what: "one" }, signal);
    await vi.advanceTimersByTimeAsync(0);
    questions()[0]?.answer(answer);
    await allowed;
  };
  await expect(asked("deny")).rejects.toMatchObject(denied);
  await expect(asked("deny")).rejects.toMatchObject(denied);
  await asked("once");
  await expect(asked("deny")).rejects.toMatchObject(denied);
  await expect(asked("deny")).rejects.toMatchObject(denied);
  const flood = Array.from({ length: 5 }, () => gate.allow({ what: "more" }, signal));
  const ends = Promise.all(flood.map((one) => expect(one).rejects.toMatchObject(denied)));
  await vi.advanceTimersByTimeAsync(0);
  questions()[0]?.answer("deny");
  await ends;
  await expect(gate.allow({ what: "again" }, signal)).rejects.toMatchObject(denied);
  expect(questions()).toEqual([]);
  expect(gate.useState.getState().reach, "it may still be looked at").toBe("act");
  await vi.advanceTimersByTimeAsync(60_000);
  await asked("once");
});

test("a question nobody answers is over after five minutes, and a yes to all after fifteen", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const gate = new Gate();
  const { signal } = new AbortController();
  const questions = () => gate.useState.getState().questions;
  const unanswered = expect(gate.enter(signal)).rejects.toMatchObject({ code: "APPROVAL_EXPIRED" });
  await vi.advanceTimersByTimeAsync(5 * 60_000);
  await unanswered;
  expect(questions()).toEqual([]);
  const entered = gate.enter(signal);
  questions()[0]?.answer("act");
  await entered;
  const first = gate.allow({ what: "one" }, signal);
  await vi.advanceTimersByTimeAsync(0);
  questions()[0]?.answer("all");
  await first;
  await vi.advanceTimersByTimeAsync(15 * 60_000 - 1);
  await gate.allow({ what: "two" }, signal);
  await vi.advanceTimersByTimeAsync(1);
  const last = gate.allow({ what: "three" }, signal);
  await vi.advanceTimersByTimeAsync(0);
  expect(questions()).toMatchObject([{ act: { what: "three" } }]);
  questions()[0]?.answer("deny");
  await expect(last).rejects.toMatchObject({ code: "APPROVAL_DENIED" });
});

test("a terminal's number is its own for ever", () => {
  const ids = new TerminalIds("laptop");
  expect([ids.idOf("term_a"), ids.idOf("term_b"), ids.idOf("term_a")]).toEqual([1, 2, 1]);
  ids.forget("term_a");
  expect([ids.idOf("term_b"), ids.idOf("term_a"), ids.idOf("__proto__")]).toEqual([2, 3, 4]);
});

test("only tools that can work with a machine are offered", () => {
  const tool = (name: string) => ({ name, description: "", effect: "read" as const, input_schema: {} });
  const names = (machine: Parameters<typeof toolsFor>[0]) => toolsFor(machine).map(({ name }) => name);
  expect(names([])).toEqual([]);
  expect(names([tool("ListDirectory"), tool("Read")])).toEqual(["file_list", "file_navigate", "file_read"]);
  expect(names([{ ...tool("Read"), unavailable: "no room" }, tool("search_files")])).toEqual(["file_find"]);
});

test("an exit code is never guessed, and notes are no output", () => {
  const after = (output: string, metadata: object) =>
    executed({ output, metadata: { ...metadata }, image: null }, true);
  expect(after("1\n[It still runs]", { output_chars: 2, running: true, exit_code: null })).toEqual({
    ...{ output: "1\n", exit_code: null, running: true },
  });
  expect(after("[Exit code unknown]", { output_chars: 0, running: false, exit_code: null })).toEqual({
    ...{ output: "", exit_code: null },
  });
  expect(after("hi\n[Exit code 1]", { exit_code: 1 }), "of an older agent").toEqual({
    ...{ output: "hi\n[Exit code 1]", exit_code: 1 },
  });
  expect(after("exit\nexit\n[x]", { output_chars: 10, ended: true, exit_code: 3 })).toEqual({
    ...{ output: "exit\n", exit_code: 3 },
  });
  expect(after("my exit\n[x]", { output_chars: 8, ended: true, exit_code: 0 }).output).toBe("my exit\n");
});

test("the folder shown stays the one once a terminal is in its place, for its machine", () => {
  const folders = (device: string) => new PageFolders(device, () => undefined, new AbortController().signal);
  const show = (path: string, more: { count?: number | undefined } = {}) =>
    publishFolder({ device: "laptop", path, count: 3, isReading: false, error: null, ...more });
  expect(folders("laptop").shown).toBeUndefined();
  show("/var/log");
  withdrawFolder();
  expect(folders("laptop").shown).toBe("/var/log");
  expect(folders("server").shown).toBeUndefined();
  show("/no-such-folder", { count: undefined });
  show(HOME);
  expect(folders("laptop").shown).toBe("/var/log");
  show("/srv");
  expect(folders("laptop").shown).toBe("/srv");
});
