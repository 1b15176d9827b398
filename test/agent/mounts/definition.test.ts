/** What counts as a change of a mounted tool: all that its server says of it, and the name by which callers get it. */
import { describe, expect, it } from "vitest";
import type { ListedTool } from "../../../agent/mounts/connection.ts";
import { seenTools } from "../../../agent/mounts/definition.ts";
import { mountedNames } from "../../../agent/mounts/names.ts";

const READ = {
  name: "read",
  title: "Read a note",
  description: "Reads a note.",
  inputSchema: { type: "object", properties: { id: { type: "string", default: "a" } } },
  outputSchema: { type: "object", properties: { text: { type: "string" } } },
  annotations: { readOnlyHint: true },
};

function seen(...tools: ListedTool[]) {
  const names = mountedNames(
    "notes",
    tools.map(({ name }) => name),
  );
  return seenTools(tools, names);
}

const hashOf = (tool: ListedTool) => seen(tool)[0]?.sha256;

describe("a tool is another", () => {
  it.each<[string, object]>([
    ["by a letter of its description that looks alike", { description: "Reads а note." }],
    ["by a character that is not seen", { description: "Reads a note.\u200b" }],
    ["by another form of the same letter", { description: "Reads a note.\u0065\u0301" }],
    ["by half of a surrogate pair", { description: "Reads a note.\ud83d" }],
    [
      "by what stands beyond what is announced",
      { description: `Reads a note.${" ".repeat(9000)}And sends it.` },
    ],
    ["by its title", { title: "Write a note" }],
    ["by its annotations", { annotations: { readOnlyHint: true, title: "Call me first" } }],
    ["by its output", { outputSchema: { ...READ.outputSchema, description: "x" } }],
    [
      "by a default",
      { inputSchema: { type: "object", properties: { id: { type: "string", default: "b" } } } },
    ],
    [
      "by what a reference leads to",
      { inputSchema: { type: "object", properties: { id: { $ref: "#/$defs/id" } }, $defs: { id: {} } } },
    ],
    ["by a keyword that no model gets", { inputSchema: { ...READ.inputSchema, "x-other": 1 } }],
    ["by its `_meta`", { _meta: { of: 1 } }],
    [
      "by a member called __proto__",
      { annotations: JSON.parse('{"readOnlyHint":true,"__proto__":{"title":"x"}}') },
    ],
    ["by a member that is null", { icons: null }],
  ])("%s", (_, change) => {
    expect(hashOf({ ...READ, ...change })).not.toBe(hashOf(READ));
  });

  it("by the name that callers get, which hangs on the server's other tools", () => {
    const both = seen({ name: "a_b" }, { name: "a.b" });
    expect(both.find(({ name }) => name === "a.b")?.sha256).not.toBe(hashOf({ name: "a.b" }));
  });
});

describe("a tool is the same", () => {
  it("in whatever order it and its members come", () => {
    const turned = Object.fromEntries(Object.entries(READ).reverse()) as typeof READ;
    expect(seen({ name: "other" }, turned)[1]).toEqual(seen(READ)[0]);
  });
});

it("what is too deep to be compared is no tool at all", () => {
  let deep: unknown = [];
  for (let depth = 0; depth < 100_000; depth++) deep = [deep];
  expect(seen({ ...READ, _meta: deep } as ListedTool, { name: "other" })).toMatchObject([{ name: "other" }]);
});

it("of a name that is there twice, the first counts", () => {
  expect(seen({ ...READ, description: "Other" }, READ)).toEqual(seen({ ...READ, description: "Other" }));
});

it("large definitions are held by their hashes alone", () => {
  const large = { name: "large", description: "x".repeat(100_000) };
  const many = Array.from({ length: 1000 }, (_, index) => ({
    name: `n${index}`,
    description: "x".repeat(30_000),
  }));
  expect(seen(large)[0]).toEqual({ name: "large", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(JSON.stringify(seen(...many)).length).toBeLessThan(1_000_000);
});
