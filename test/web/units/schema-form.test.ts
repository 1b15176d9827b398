/** Forms made from a tool's schema: their fields, what is read from them, and what is said to be wrong. */
import { describe, expect, test } from "vitest";
import { checkOf } from "../../../web/src/ui/schema/check.ts";
import { type DraftValue, draftOf, readDraft } from "../../../web/src/ui/schema/draft.ts";
import { fieldsOf } from "../../../web/src/ui/schema/fields.ts";
import { isSameName, readableName, saysMore } from "../../../web/src/ui/schema/label.ts";

const object = (properties: object, required: string[] = []) => ({ type: "object", properties, required });
const read = (schema: object, draft: Record<string, DraftValue>) =>
  readDraft(fieldsOf({ ...schema }), new Map(Object.entries(draft)));
const kindOf = (property: object, root: object = {}) =>
  fieldsOf({ ...object({ x: property }), ...root })[0]?.input.kind;

test.each([
  ["run_in_background", "Run in background"],
  ["yield_ms", "Yield (milliseconds)"],
  ["expectedSha256", "Expected SHA-256"],
  ["maxResults", "Max results"],
  ["bash_id", "Bash ID"],
  ["URL", "URL"],
  ["ms", "Ms"],
  ["__", "__"],
])("%s is read as %s", (name, label) => {
  expect(readableName(name)).toBe(label);
});

test("label, name and help of a field do not say the same", () => {
  const same = (name: string) => isSameName(readableName(name), name);
  expect(["command", "file_path", "runInBackground", "if_sha256"].map(same)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(["yield_ms", "max_bytes"].map(same)).toEqual([false, false]);
  expect(saysMore("Command", "The command")).toBe(false);
  expect(saysMore("File path", "Path of the file.")).toBe(false);
  expect(saysMore("Command", "Command to run")).toBe(true);
  expect(saysMore("Path", "")).toBe(false);
});

describe("fields", () => {
  test.each([
    ["text", { type: "string" }],
    ["number", { type: "integer", minimum: 1 }],
    ["number", { anyOf: [{ type: "number" }, { type: "null" }] }],
    ["text", { type: ["string", "null"] }],
    ["flag", { type: "boolean" }],
    ["choice", { enum: ["a", 1, null] }],
    ["choice", { const: "only" }],
    ["choice", { oneOf: [{ const: 1, title: "One" }, { const: 2 }] }],
    ["number or text", { anyOf: [{ type: "integer" }, { type: "string" }] }],
    ["number or text", { type: ["string", "number"] }],
    ["list", { type: "array", items: { type: "string" } }],
    ["json", { type: "array", items: { type: "object" } }],
    ["json", { type: "object" }],
    ["json", {}],
    ["json", { $ref: "https://elsewhere.example/schema" }],
  ])("%s for %j", (kind, property) => {
    expect(kindOf(property)).toBe(kind);
  });

  test("a reference within the schema is followed, and one that goes round is not followed for ever", () => {
    const $defs = { mode: { enum: ["a", "b"] }, round: { $ref: "#/$defs/round" } };
    expect(kindOf({ $ref: "#/$defs/mode" }, { $defs })).toBe("choice");
    expect(kindOf({ $ref: "#/$defs/round" }, { $defs })).toBe("json");
  });

  test("required ones come first; bounds of the number type are none", () => {
    const limit = Number.MAX_SAFE_INTEGER;
    const fields = fieldsOf(
      object({ a: { type: "string" }, b: { type: "integer", minimum: -limit, maximum: limit } }, ["b"]),
    );
    expect(fields.map(({ name }) => name)).toEqual(["b", "a"]);
    expect(fields[0]?.input).toMatchObject({ least: undefined, most: undefined });
  });

  test.each([
    [{}],
    [{ properties: null, required: "x" }],
    [{ properties: { x: 3, y: null, __proto__: { type: "string" } } }],
    [{ properties: { x: { anyOf: "no", enum: {}, description: 7, default: { a: 1 } } } }],
  ])("a schema that makes no sense makes no error: %j", (schema) => {
    expect(() => readDraft(fieldsOf({ ...schema }), new Map())).not.toThrow();
    expect(() => checkOf({ ...schema })({})).not.toThrow();
  });

  test("an input without fields of its own is one object", () => {
    expect(fieldsOf({ type: "object" })).toEqual([]);
    const schema = { type: "object", additionalProperties: { type: "string" } };
    expect(read(schema, { "": '{"a": "b"}' }).input).toEqual({ a: "b" });
    expect(read(schema, {}).input).toEqual({});
    expect([...read(schema, { "": "[]" }).problems.keys()]).toEqual([""]);
  });
});

describe("what is read", () => {
  const EVERYTHING = object(
    {
      text: { type: "string" },
      count: { type: "integer" },
      monitor: { anyOf: [{ type: "integer" }, { type: "string" }] },
      mode: { enum: ["a", "b"] },
      quick: { type: "boolean" },
      parents: { type: "boolean", description: "Create missing ones (default true)" },
      keys: { type: "array", items: { type: "string" } },
      filter: { type: "object" },
    },
    ["text"],
  );

  test("unset optional fields are left out", () => {
    expect(read(EVERYTHING, { text: "x" })).toEqual({ input: { text: "x" }, problems: new Map() });
  });

  test("what is set has its type; what equals the default is left out", () => {
    const { input } = read(EVERYTHING, {
      ...{ text: " x ", count: " 12 ", monitor: "3", mode: "1", quick: true, parents: false },
      ...{ keys: ["a", "", "b"], filter: '{"a": [1]}' },
    });
    expect(input).toEqual({
      ...{ text: " x ", count: 12, monitor: 3, mode: "b", quick: true, parents: false },
      ...{ keys: ["a", "b"], filter: { a: [1] } },
    });
    expect(read(EVERYTHING, { text: "x", quick: false, parents: true, keys: [""] }).input).toEqual({
      text: "x",
    });
  });

  test.each([
    ["0", 0],
    ["-1.5", -1.5],
    ["HDMI-1", "HDMI-1"],
    ["065", "065"],
    ["1e3", "1e3"],
  ])("what may be a number or text is sent as it is typed: %s", (typed, sent) => {
    expect(read(EVERYTHING, { text: "x", monitor: typed }).input).toEqual({ text: "x", monitor: sent });
  });

  test("Edit takes text away when the new text is left empty, and only then", () => {
    const edit = object({ old_string: { type: "string" }, new_string: { type: "string" } });
    expect(read(edit, { old_string: "a" }).input).toEqual({ old_string: "a", new_string: "" });
    expect(read(edit, {}).input).toEqual({});
  });

  test("an empty file can be written, an empty command not be run", () => {
    const write = object({ content: { type: "string" } }, ["content"]);
    expect(read(write, {})).toEqual({ input: { content: "" }, problems: new Map() });
    expect(read(object({ command: { type: "string" } }, ["command"]), {}).problems.size).toBe(1);
  });

  test("an input goes back into the form and out again", () => {
    const input = {
      ...{ text: "x\ny", count: 0, monitor: "HDMI", mode: "b", quick: true, parents: false },
      ...{ keys: ["a"], filter: { a: [1] } },
    };
    const fields = fieldsOf(EVERYTHING);
    expect(readDraft(fields, draftOf(fields, input))).toEqual({ input, problems: new Map() });
  });
});

describe("what is wrong", () => {
  const schema = object(
    {
      name: { type: "string", minLength: 2, pattern: "^[a-z]+$" },
      count: { type: "integer", maximum: 5 },
      edits: { type: "array", minItems: 1, items: object({ old: { type: "string" } }, ["old"]) },
      at: { type: "string", format: "date-time" },
    },
    ["name"],
  );
  const problems = (input: Record<string, unknown>) => Object.fromEntries(checkOf(schema)(input));

  test("nothing", () => expect(problems({ name: "ab", count: 5, edits: [{ old: "" }] })).toEqual({}));

  test("each field has its own words", () => {
    expect(problems({ count: 6, edits: [{ old: "" }, {}], at: "noon" })).toEqual({
      name: "Fill this in: the tool needs it.",
      count: "It can be at most 5.",
      edits: "1.old is missing.",
      at: "Write a time like 2026-01-31T09:00:00Z.",
    });
    expect(problems({ name: "a", edits: [] })).toEqual({
      name: "It has to have at least 2 characters.",
      edits: "At least one is needed.",
    });
    expect(problems({ name: "A B" })).toEqual({ name: "It has to fit the pattern ^[a-z]+$" });
  });

  test.each([
    ["letters", "12a"],
    ["a part", "1.5"],
    ["hexadecimal", "0x10"],
    ["infinity", "Infinity"],
  ])("a number with %s", (_, typed) => {
    expect(read(schema, { name: "ab", count: typed }).problems.get("count")).toMatch(/number/);
  });

  test("JSON that is not finished", () => {
    expect(read(schema, { name: "ab", edits: "[{" }).problems.get("edits")).toBe(
      "This is not valid JSON yet.",
    );
  });

  test.each([
    ["a broken pattern", { x: { type: "string", pattern: "(" } }],
    ["a pattern that takes forever", { x: { type: "string", pattern: "^(a+)+$" } }],
    ["a reference to elsewhere", { x: { $ref: "http://x.example/y" } }],
  ])("%s is left to the machine", (_, properties) => {
    const began = performance.now();
    expect([...checkOf(object(properties))({ x: `${"a".repeat(40)}!` })]).toEqual([]);
    expect(performance.now() - began).toBeLessThan(1_000);
  });

  test("a schema that is thousands deep is left to the machine", () => {
    let deep: object = { type: "string" };
    for (let at = 0; at < 20_000; at++) deep = { type: "array", items: deep };
    expect([...checkOf(object({ x: deep }))({ x: [] })]).toEqual([]);
  });
});
