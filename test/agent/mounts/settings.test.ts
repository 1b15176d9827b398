/** `mcpServers` of the configuration: what is taken, and what is refused by name. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { mountsSchema } from "../../../agent/config/mount-settings.ts";
import { mountedNames } from "../../../agent/mounts/names.ts";
import { toolResultOf } from "../../../agent/mounts/result.ts";
import { announcedSchema, inputOf } from "../../../agent/mounts/schema.ts";
import { failure } from "../tools/workbench.ts";

const COMMAND = { command: "npx", args: ["-y", "server"] };

describe("settings", () => {
  it.each([
    [{ files: COMMAND }],
    [
      {
        files: {
          ...COMMAND,
          type: "stdio",
          env: { KEY: "x" },
          cwd: "/srv",
          disabled: true,
          timeout_ms: 5000,
        },
      },
    ],
    [{ "a-b_C9": { url: "https://example.com/mcp", headers: { Authorization: "Bearer x" } } }],
    [{ web: { type: "http", url: "http://localhost:3000/mcp" } }],
  ])("%j is taken as it is", (servers) => {
    expect(mountsSchema.parse(servers)).toEqual(servers);
  });

  it("are those of the guide", () => {
    const guide = readFileSync(new URL("../../../docs/guides/home-mcp-servers.md", import.meta.url), "utf8");
    const example = JSON.parse(guide.match(/^```json\n(.*?)\n```$/ms)?.[1] ?? "");
    expect(mountsSchema.parse(example.mcpServers)).toEqual(example.mcpServers);
  });

  it.each([
    ["a name with a dot", { "a.b": COMMAND }],
    ["a name with __", { a__b: COMMAND }],
    ["a name that ends with _", { a_: COMMAND }],
    ["a long name", { ["a".repeat(33)]: COMMAND }],
    ["an empty name", { "": COMMAND }],
    ["neither command nor URL", { a: {} }],
    ["both", { a: { ...COMMAND, url: "https://example.com" } }],
    ["a misspelt key", { a: { ...COMMAND, environment: {} } }],
    ["a URL of another kind", { a: { url: "file:///etc/passwd" } }],
    ["a folder that is not a full path", { a: { ...COMMAND, cwd: "../.." } }],
    ["a header with a line break", { a: { url: "https://example.com", headers: { "A\r\nB": "x" } } }],
    ["a time limit beyond the longest", { a: { ...COMMAND, timeout_ms: 10 ** 9 } }],
    ["too many", Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`s${index}`, COMMAND]))],
  ])("%s is refused", (_what, servers) => {
    expect(mountsSchema.safeParse(servers).success).toBe(false);
  });
});

describe("names", () => {
  it("are the same whatever the order, and no changed name takes one that fits", () => {
    const tools = ["a.b", "a_b", "a b", "x".repeat(80)];
    const names = mountedNames("s", tools);
    expect(names.get("a_b")).toBe("s__a_b");
    expect(new Set(names.values()).size).toBe(4);
    expect(mountedNames("s", tools.toReversed())).toEqual(new Map([...names].toReversed().sort()));
  });
});

describe("inputs", () => {
  it.each([
    [
      { type: "object", properties: { a: { type: "object", properties: { b: { type: "integer" } } } } },
      { a: { b: "x" } },
      "a.b",
    ],
    [{ type: "object", required: ["a"] }, {}, undefined],
    [{ type: "object", properties: { "a/b": { enum: [1] } } }, { "a/b": 2 }, "a_b"],
  ])("that do not fit %j are refused by field", async (schema, input, field) => {
    const made = inputOf("s__t", schema);
    if ("problem" in made) throw new Error(made.problem);
    const error = await failure(Promise.resolve().then(() => made.input.parse(input)));
    expect(error.code).toBe("INVALID_PARAMETERS");
    expect(error.details?.field).toBe(field);
  });

  it("keep properties that are named like keywords", () => {
    const properties = {
      pattern: { type: "string" },
      "x-mcp-header": { type: "string", "x-mcp-header": "A" },
    };
    expect(announcedSchema({ type: "object", properties })).toEqual({
      schema: {
        type: "object",
        properties: { pattern: { type: "string" }, "x-mcp-header": { type: "string" } },
      },
    });
  });
});

describe("results", () => {
  const image = { type: "image", data: "AAAA", mimeType: "image/png" };

  it("of texts and one picture need no parts", () => {
    const content = [{ type: "text", text: "a" }, image, { type: "text", text: "b" }];
    expect(toolResultOf("s", { content })).toEqual({
      output: "a\nb",
      image: { media_type: "image/png", base64_data: "AAAA" },
    });
  });

  it("of two pictures have both among their parts", () => {
    expect(toolResultOf("s", { content: [image, image] }).content).toHaveLength(2);
  });

  it("without any text show their data", () => {
    expect(toolResultOf("s", { content: [], structuredContent: [1] })).toEqual({
      output: "[\n  1\n]",
      structured: [1],
    });
  });

  it("leave out parts that are none", () => {
    const content = [
      { type: "image", data: "<not base64>", mimeType: 1 },
      "x",
      null,
      { type: "text", text: "a" },
    ];
    expect(toolResultOf("s", { content })).toEqual({ output: "a" });
  });
});
