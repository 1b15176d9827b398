/** What a model is given of our agent's own tools: their names, their texts, and how much of it there is. */

import { effectOf, modelNameOf } from "@matrx/shared/effects.ts";
import { toolsOfAll } from "@matrx/shared/mcp/device-tools.ts";
import { mcpTool, toolsOfOne } from "@matrx/shared/mcp/tools.ts";
import { type ModelTool, modelView, offeredTools } from "@matrx/shared/model-view.ts";
import { systemPrompt } from "@matrx/shared/system-prompt.ts";
import type { ToolDescription } from "@matrx/shared/tool.ts";
import { familyOf, type OwnFamily, SHOWN_FAMILIES } from "@matrx/shared/tool-families.ts";
import { TOOL_FORMATS, type ToolFormat, toolDefinition } from "@matrx/shared/tool-formats.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { manifestOf } from "../../../agent/core/manifest.ts";
import type { Tool } from "../../../agent/core/tool.ts";
import { expectTaken } from "../../shared/model-apis.ts";
import { Workbench } from "../tools/workbench.ts";

let announced: ToolDescription[];
let view: ModelTool[];
let tools: readonly Tool[];

beforeEach(async () => {
  // As on a machine where all of them work.
  tools = (await Workbench.open()).tools.map(({ unavailable: _, ...tool }) => tool);
  announced = (await manifestOf(tools)).tools;
  view = modelView(announced, () => true);
});

/** The guide's definitions for AI models, and the tools that its table has besides. */
const GUIDE = [
  ...["bash", "read", "write", "edit", "glob", "grep", "screenshot", "list_directory", "system_info"],
  ...["open_url", "open_path", "bash_output", "task_stop"],
].map((name) => `local_${name}`);

/** What the tools of a family may take of an MCP list, alone. */
const MOST_BYTES: Readonly<Record<OwnFamily, number>> = {
  files: 7500,
  shell: 2300,
  terminals: 1600,
  system: 2100,
  desktop: 1600,
  ports: 500,
};
const OWN_FAMILIES = Object.keys(MOST_BYTES) as OwnFamily[];

const bytesOf = (tools: readonly unknown[]) => Buffer.byteLength(JSON.stringify({ tools }));

/** Characters of the JSON of the default tools, and so about four times the tokens. */
const MOST_CHARS: Record<ToolFormat, number> = {
  mcp: 10_000,
  anthropic: 9200,
  openai: 9700,
  "openai-responses": 9700,
};

it("has something of each family that a person can choose for it", () => {
  const found = new Set(view.map(({ name }) => familyOf(name)));
  expect(SHOWN_FAMILIES.filter((family) => family !== "mounted")).toEqual(
    OWN_FAMILIES.filter((family) => found.has(family)),
  );
});

describe("the definitions", () => {
  it.each(TOOL_FORMATS)("are few words in the shape of %s", (format) => {
    const { tools } = offeredTools(announced, () => true, {});
    const chars = JSON.stringify(tools.map((tool) => toolDefinition(tool, format))).length;
    expect(chars).toBeLessThanOrEqual(MOST_CHARS[format]);
  });

  it("take at most 10.5 KB of an MCP list by default, of 12 KB, and an eighth more if each names its device", () => {
    const { tools: own, others } = offeredTools(announced, () => true, {}, { naming: "own" });
    expect(others).toEqual(["system", "terminals"]);
    expect(bytesOf(toolsOfOne(own, others))).toBeLessThanOrEqual(10.5 * 1024);
    expect(bytesOf(toolsOfAll([own, own, own], others))).toBeLessThanOrEqual(12 * 1024);
  });

  it.each(OWN_FAMILIES)("of the family %s stay within its budget", (family) => {
    const own = modelView(announced, () => true, { naming: "own", families: [family] });
    const ofFamily = own.filter(({ name }) => familyOf(name) === family);
    expect(bytesOf(ofFamily.map((tool) => mcpTool(tool)))).toBeLessThanOrEqual(MOST_BYTES[family]);
  });

  it("are taken by each model API, also as MCP lists them", () => {
    for (const { input_schema } of view) expectTaken(input_schema);
    const own = modelView(announced, () => true, { naming: "own" });
    for (const { inputSchema } of toolsOfAll([own, own])) expectTaken(inputSchema);
  });

  it("are those of the guide, and ours that no other does as well", () => {
    const names = view.map(({ model_name }) => model_name);
    expect(names).toEqual(expect.arrayContaining(GUIDE));
    const offered = tools.filter(({ model = {} }) => !model.hidden && !model.unless);
    expect(names.toSorted()).toEqual(offered.map(({ name }) => modelNameOf(name)).toSorted());
  });

  it("name no tool that the model does not have", () => {
    const text = JSON.stringify(view.map((tool) => toolDefinition(tool, "anthropic")));
    const names = new Set(view.map(({ model_name }) => model_name));
    for (const [named] of text.matchAll(/local_\w+/g)) expect(names).toContain(named);
    for (const { name } of announced) if (/[a-z][A-Z]|_/.test(name)) expect(text).not.toMatch(wordOf(name));
    expect(text).not.toContain("`");
  });

  it("name a tool of the device in backticks wherever a text of theirs names one", () => {
    const isOdd = (name: string) => /[a-z][A-Z]|_|Bash/.test(name);
    const names = announced.map(({ name }) => name).filter(isOdd);
    for (const { description, details = "", input_schema } of announced) {
      const texts = `${description} ${details} ${JSON.stringify(input_schema.properties)}`.replace(
        /"\w+":/g,
        "",
      );
      for (const name of names) expect(texts.replaceAll(`\`${name}\``, "")).not.toMatch(wordOf(name));
    }
  });

  it("leave out only parameters that are there, and none that must be given", () => {
    for (const { name, model = {}, input_schema } of announced) {
      const { properties = {}, required = [] } = input_schema as { properties: object; required?: string[] };
      const { omit = [], require = [] } = model;
      expect(Object.keys(properties), name).toEqual(expect.arrayContaining([...omit, ...require]));
      expect(omit.filter((field) => required.includes(field) || require.includes(field))).toEqual([]);
    }
  });

  it("tell what each parameter means", () => {
    for (const { name, input_schema } of view)
      for (const [field, schema] of Object.entries(input_schema.properties as object))
        expect((schema.anyOf?.[0] ?? schema).description, `${name}.${field}`).toMatch(/\w/);
  });

  it("ask for old_string and new_string in an edit, as the guide does, and speak of no other way", () => {
    const edit = view.find(({ name }) => name === "Edit");
    expect(edit?.input_schema).toMatchObject({ required: ["file_path", "old_string", "new_string"] });
    expect(JSON.stringify(edit)).not.toContain("edits");
  });
});

it("parameters that a model is not told of are taken all the same", async () => {
  const bench = await Workbench.open();
  await bench.put("f", "a b\n");
  const edits = [
    { old_string: "a", new_string: "x" },
    { old_string: "b", new_string: "y" },
  ];
  await bench.call("Edit", { file_path: "f", edits });
  const { output } = await bench.call("Read", { file_path: "f", raw: true, encoding: "utf-8" });
  expect(output).toBe("x y");
});

it("the system prompt is short, and names the same tools", () => {
  const machine = { name: "laptop", os: "Linux", os_version: "Debian GNU/Linux 13", folders: null };
  const { tools: usual } = offeredTools(announced, () => true, {});
  expect(systemPrompt(machine, usual).length).toBeLessThanOrEqual(1650);
  const prompt = systemPrompt(machine, view);
  for (const { model_name } of view) expect(prompt).toContain(`- ${model_name}: `);
  const readOnly = modelView(announced, (name) => effectOf(name) === "read");
  const readers = tools.filter(
    ({ effect, model = {} }) => effect === "read" && !model.hidden && !model.needs,
  );
  const offered = new Set(readers.map(({ name }) => name));
  const left = readers.filter(({ model = {} }) => !model.unless || !offered.has(model.unless));
  expect(readOnly.map(({ name }) => name)).toEqual(left.map(({ name }) => name).toSorted());
});

function wordOf(name: string): RegExp {
  return new RegExp(`(?<![\\w])${name}(?!\\w)`);
}
