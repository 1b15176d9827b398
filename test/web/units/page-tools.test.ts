/** What the page's own tools check before anything reaches a machine. */
import { expect, test } from "vitest";
import { optional, readInput, schemaOf, text, whole } from "../../../web/src/features/page-tools/fields.ts";
import { textOf } from "../../../web/src/features/page-tools/file-text.ts";
import { Gate } from "../../../web/src/features/page-tools/gate.ts";
import { TerminalIds } from "../../../web/src/features/page-tools/terminal-ids.ts";

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
    [{ command: "ls", id: "1" }, "whole number"],
    [{ command: "ls", id: 10 }, "from 1 to 9"],
    [{ command: "ls", id: null }, "whole number"],
    [JSON.parse('{"command":"ls","__proto__":1}'), "__proto__"],
    [Object.create({ command: "ls" }), "command is required"],
  ] as const)
    expect(() => readInput(fields, input)).toThrow(message);
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

test("a terminal's number is its own for ever", () => {
  const ids = new TerminalIds("laptop");
  expect([ids.idOf("term_a"), ids.idOf("term_b"), ids.idOf("term_a")]).toEqual([1, 2, 1]);
  ids.keepOnly(["term_b"]);
  expect([ids.idOf("term_b"), ids.idOf("term_a"), ids.idOf("__proto__")]).toEqual([2, 3, 4]);
});
