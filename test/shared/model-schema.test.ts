/** Schemas of others' tools, as the APIs of Anthropic, OpenAI and Gemini take them. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { modelSchema } from "../../shared/model-schema.ts";
import { expectTaken, TYPES } from "./model-apis.ts";

type Schema = Record<string, unknown>;

const seen = (parameter: unknown, required: string[] = []) =>
  modelSchema({ type: "object", properties: { a: parameter }, required }).properties as Schema;

describe("a parameter", () => {
  it.each<[string, unknown, unknown]>([
    ["of any items", { type: "array" }, { type: "array", items: { anyOf: expect.any(Array) } }],
    ["of a draft's bounds", { type: "integer", exclusiveMinimum: 0 }, { type: "integer", minimum: 1 }],
    ["that may be null", { type: ["string", "null"], default: null }, { type: "string" }],
    [
      "that may be null, as Python says it",
      { anyOf: [{ type: "integer" }, { type: "null" }], default: 3 },
      { type: "integer", default: 3 },
    ],
    [
      "of texts, each with a schema",
      { oneOf: [{ const: "a" }, { const: "b" }] },
      { type: "string", enum: ["a", "b"] },
    ],
    ["of one text", { const: "on" }, { type: "string", enum: ["on"] }],
    [
      "of numbers to choose from",
      { enum: [1, 2], description: "Level" },
      { type: "number", description: "Level. One of 1, 2" },
    ],
    ["with an empty text to choose", { type: "string", enum: ["", "a"] }, { type: "string", enum: ["a"] }],
    ["with a format", { type: "string", format: "uri" }, { type: "string", description: "Format: uri" }],
    ["with what looks around", { type: "string", pattern: "^(?!a)" }, { type: "string" }],
    ["with a pattern", { type: "string", pattern: "^a+$" }, { type: "string", pattern: "^a+$" }],
    [
      "of free names",
      { type: "object", additionalProperties: { type: "string" } },
      { type: "object", properties: {}, description: "Other names may be given, each with: string" },
    ],
    [
      "in parts",
      {
        allOf: [
          { type: "object", properties: { b: { type: "string" } } },
          { properties: { c: true }, required: ["b"] },
        ],
      },
      { type: "object", properties: { b: { type: "string" }, c: expect.anything() }, required: ["b"] },
    ],
    [
      "that is a tuple",
      { type: "array", prefixItems: [{ type: "number" }, { type: "number" }] },
      { type: "array", items: { type: "number" } },
    ],
  ])("%s", (_, given, expected) => {
    expect(seen(given).a).toEqual(expected);
  });

  it("of several kinds has all of them, and its description in the first", () => {
    expect(seen({ type: ["string", "null"], description: "Who" }, ["a"]).a).toEqual({
      anyOf: [{ type: "string", description: "Who" }, { type: "null" }],
    });
  });

  it("is left out where no value fits, or no API takes its name", () => {
    expect(seen(false)).toEqual({});
    const named = modelSchema({
      type: "object",
      properties: { "$a b": { type: "string" } },
      required: ["$a b"],
    });
    expect(named).toEqual({ type: "object", properties: {} });
  });
});

describe("a choice at the top", () => {
  it("becomes what any branch takes", () => {
    const branch = (kind: string, more: Schema, required: string[]) => ({
      properties: { kind: { const: kind }, ...more },
      required: ["kind", ...required],
    });
    const oneOf = [
      branch("file", { path: { type: "string" } }, ["path"]),
      branch("url", { url: { type: "string" } }, ["url"]),
    ];
    expect(modelSchema({ type: "object", oneOf })).toEqual({
      type: "object",
      properties: {
        kind: { type: "string", enum: ["file", "url"] },
        path: { type: "string" },
        url: { type: "string" },
      },
      required: ["kind"],
    });
  });
});

describe("whatever is announced", () => {
  it("is taken by each API, and does not grow without end", () => {
    fc.assert(
      fc.property(anySchema(), (schema) => {
        const shown = modelSchema({
          type: "object",
          properties: { a: schema, "b c": schema },
          ...(schema as object),
        });
        expectTaken(shown);
        expect(shown.type).toBe("object");
        expect(shown).not.toHaveProperty("anyOf");
        expect(JSON.stringify(shown).length).toBeLessThan(40 * JSON.stringify(schema).length + 2000);
      }),
      { numRuns: 300 },
    );
  });

  it("with alternatives in alternatives is short all the same", () => {
    let schema: Schema = { type: "string" };
    for (let depth = 0; depth < 12; depth++)
      schema = {
        type: "object",
        properties: { a: schema },
        anyOf: [{ required: ["a"] }, { required: ["b"] }, {}],
      };
    expect(JSON.stringify(modelSchema(schema)).length).toBeLessThan(2000);
  });
});

/** What servers send, right or wrong. */
function anySchema(): fc.Arbitrary<unknown> {
  const types = fc.constantFrom(...TYPES, "any", "int");
  return fc.letrec((tie) => {
    const inner = tie("schema");
    const name = fc.constantFrom("a", "b", "$c", "d e", "é", "f.g", "__proto__");
    return {
      schema: fc.oneof(
        { maxDepth: 4 },
        fc.boolean(),
        fc.constantFrom(null, "string", []),
        fc.record(
          {
            type: fc.oneof(types, fc.array(types, { maxLength: 3 }), fc.constant(5)),
            description: fc.oneof(fc.string(), fc.integer()),
            default: fc.jsonValue({ maxDepth: 1 }),
            enum: fc.array(fc.oneof(fc.constantFrom("", "a", "b", null, true), fc.integer()), {
              maxLength: 3,
            }),
            const: fc.constantFrom("x", 1, null, true),
            format: fc.constantFrom("date-time", "uri", "int32"),
            pattern: fc.constantFrom("^a$", "(?<=a)", "(", "\\p{L}"),
            exclusiveMinimum: fc.oneof(fc.boolean(), fc.integer()),
            minimum: fc.oneof(fc.integer(), fc.constant("1")),
            required: fc.oneof(fc.array(name, { maxLength: 3 }), fc.boolean()),
            properties: fc.oneof(fc.dictionary(name, inner, { maxKeys: 3 }), fc.constant([])),
            additionalProperties: inner,
            items: fc.oneof(inner, fc.array(inner, { maxLength: 2 })),
            prefixItems: fc.array(inner, { maxLength: 2 }),
            anyOf: fc.oneof(fc.array(inner, { maxLength: 3 }), fc.constant("no")),
            oneOf: fc.array(inner, { maxLength: 3 }),
            allOf: fc.array(inner, { maxLength: 2 }),
            $ref: fc.constant("#/$defs/gone"),
            "x-more": fc.constant(1),
          },
          { requiredKeys: [] },
        ),
      ),
    };
  }).schema;
}
