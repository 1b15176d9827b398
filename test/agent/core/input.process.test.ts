/** What a call's input may look like, for every tool alike. */

import { describe, expect, it } from "vitest";
import { parseInput } from "../../../agent/core/input.ts";
import { jsonSchemaOf } from "../../../agent/core/manifest.ts";
import type { Tool } from "../../../agent/core/tool.ts";
import { OwnPorts } from "../../../agent/ports/own-ports.ts";
import { DomainProxies } from "../../../agent/sandbox/domain-proxies.ts";
import { Sandbox } from "../../../agent/sandbox/sandbox.ts";
import { deviceTools } from "../../../agent/tools/index.ts";
import { failure, Workbench } from "../tools/workbench.ts";

interface Property {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly properties?: Record<string, Property>;
  readonly items?: { readonly properties?: Record<string, Property>; readonly prefixItems?: unknown };
}

interface Parameters {
  readonly properties: Readonly<Record<string, Property>>;
  readonly required: readonly string[];
}

function parametersOf(tool: Tool): Parameters {
  const schema = jsonSchemaOf(tool.input, "input") as Partial<Parameters>;
  return { properties: schema.properties ?? {}, required: schema.required ?? [] };
}

/** A value that the schema takes. */
function sampleOf({ type, enum: names, minimum, items, pattern, properties }: Property): unknown {
  if (names) return names[0];
  if (type === "integer" || type === "number") return Math.max(minimum ?? 1, 1);
  if (type === "boolean") return true;
  if (type === "object") return samplesOf(properties ?? {});
  if (items?.prefixItems) return [];
  if (type === "array") return [items?.properties ? samplesOf(items.properties) : "x"];
  if (pattern?.includes("a-fA-F")) return "0".repeat(64);
  if (pattern?.includes("upload_")) return `upload_${"0".repeat(20)}`;
  if (pattern?.includes("[0-7]")) return "644";
  if (pattern?.includes("[A-Z-]")) return "GET";
  if (pattern?.startsWith("^\\/")) return "/";
  if (pattern?.startsWith("^[!")) return "a=1";
  return "2026-11-22T00:00:00.000Z";
}

function samplesOf(properties: Record<string, Property>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, sampleOf(one)]));
}

async function allTools(): Promise<readonly Tool[]> {
  const { files, jobs, desktop, uploads, terminals } = await Workbench.open();
  return deviceTools({
    files,
    jobs,
    desktop,
    uploads,
    terminals,
    sandbox: new Sandbox({ files, proxies: new DomainProxies("/nowhere") }),
    ownPorts: new OwnPorts({ folders: () => [] }),
  });
}

async function allParameters(): Promise<
  { tool: Tool; given: Record<string, unknown>; name: string; property: Property }[]
> {
  return (await allTools()).flatMap((tool) => {
    const { properties, required } = parametersOf(tool);
    const needed = required.map((name) => [name, sampleOf(properties[name] ?? {})] as const);
    return Object.entries(properties).map(([name, property]) => ({
      tool,
      given: Object.fromEntries(needed),
      name,
      property,
    }));
  });
}

describe("the input of any tool", () => {
  it("may hold null for whatever may be left out", async () => {
    let count = 0;
    for (const { tool, given, name } of await allParameters()) {
      if (name in given) continue;
      count++;
      expect(parseInput(tool, { ...given, [name]: null }), `${tool.name}.${name}`).toEqual(given);
    }
    expect(count).toBeGreaterThan(40);
  });

  it("may hold an empty text for whatever may be left out, unless that says something", async () => {
    const tools = new Map((await allTools()).map((tool) => [tool.name, tool]));
    const [grep, edit] = [tools.get("Grep") as Tool, tools.get("Edit") as Tool];
    expect(parseInput(grep, { pattern: "x", path: "", include: "", max_results: "" })).toEqual({
      pattern: "x",
    });
    const blank = { file_path: "a", old_string: "b", new_string: "" };
    expect(parseInput(edit, { ...blank, replace_all: "" })).toEqual(blank);
    const refused = async (tool: Tool | undefined, input: Record<string, unknown>) =>
      (await failure(Promise.resolve().then(() => parseInput(tool as Tool, input)))).message;
    expect(await refused(grep, { pattern: "", path: "" })).toContain("pattern");
    // Programs compare by it: without it everything would be overwritten.
    expect(
      await refused(tools.get("Write"), { file_path: "a", content: "b", expected_sha256: "" }),
    ).toContain("expected_sha256");
    expect(await refused(tools.get("ConnectPort"), { port: 80, host: "" })).toContain("host");
  });

  it("must hold what is needed: null is not it", async () => {
    for (const { tool, given, name } of await allParameters()) {
      if (!(name in given)) continue;
      const error = await failure(Promise.resolve().then(() => parseInput(tool, { ...given, [name]: null })));
      expect(error, `${tool.name}.${name}`).toMatchObject({
        code: "INVALID_PARAMETERS",
        message: `${name}: is missing`,
      });
    }
  });

  it("may hold numbers and booleans as text", async () => {
    let count = 0;
    for (const { tool, given, name, property } of await allParameters()) {
      if (!["integer", "number", "boolean"].includes(property.type ?? "")) continue;
      count++;
      const value = sampleOf(property);
      const wanted = { ...given, [name]: value };
      expect(parseInput(tool, { ...given, [name]: String(value) }), `${tool.name}.${name}`).toEqual(wanted);
    }
    expect(count).toBeGreaterThan(30);
  });

  it("is not guessed at beyond that", async () => {
    const bench = await Workbench.open();
    const refused = async (tool: string, input: Record<string, unknown>) =>
      (await failure(Promise.resolve().then(() => parseInput(bench.tool(tool), input)))).message;
    expect(await refused("Read", { file_path: "x", offset: "two" })).toBe("offset: must be a number");
    expect(await refused("Read", { file_path: "x", offset: "0x10" })).toBe("offset: must be a number");
    expect(await refused("Read", { file_path: "x", limit: "1.5" })).toContain(
      "limit: must be a whole number",
    );
    expect(await refused("Read", { file_path: "x", limit: "0" })).toBe("limit: must be at least 1");
    expect(await refused("Read", { file_path: "x", raw: "yes" })).toBe("raw: must be true or false");
    expect(await refused("Read", { file_path: true })).toBe("file_path: must be text");
    expect(await refused("Read", { file_path: "x", ofset: null })).toBe("Unknown parameter: ofset");
  });

  it("may have the same forms within a list", async () => {
    const bench = await Workbench.open();
    const edit = { old_string: "a", new_string: "b" };
    const input = {
      file_path: "f",
      old_string: null,
      edits: [
        { ...edit, replace_all: "True" },
        { ...edit, replace_all: null },
      ],
    };
    expect(parseInput(bench.tool("Edit"), input)).toEqual({
      file_path: "f",
      edits: [{ ...edit, replace_all: true }, edit],
    });
    expect(input.old_string, "what was given is left as it was").toBeNull();
  });

  it("may hold a number where text is wanted, such as a page", async () => {
    const bench = await Workbench.open();
    expect(parseInput(bench.tool("Read"), { file_path: "x", pages: 3 })).toEqual({
      file_path: "x",
      pages: "3",
    });
  });

  it("keeps text that looks like a number or a boolean where text is wanted", async () => {
    const bench = await Workbench.open();
    const input = { file_path: "2", content: "true", create_directories: "false" };
    expect(parseInput(bench.tool("Write"), input)).toEqual({ ...input, create_directories: false });
  });

  it("has a description that is too long cut, and not refused", async () => {
    const bench = await Workbench.open();
    const long = `${"x".repeat(499)}${"😀".repeat(300)}`;
    const { description } = parseInput(bench.tool("Bash"), { command: "true", description: long });
    expect(description).toBe(`${"x".repeat(499)}😀`);
    const { output } = await bench.call("Bash", { command: "echo ran", description: "words ".repeat(200) });
    expect(output).toBe("ran\n");
  });
});
