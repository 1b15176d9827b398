/** Schemas of mounted servers, of any draft and right or wrong, as they are announced. */
import { describe, expect, it } from "vitest";
import { inputOf } from "../../../agent/mounts/schema.ts";

type Schema = Record<string, unknown>;

function announced(properties: Schema, more: Schema = {}) {
  const made = inputOf("tool", { type: "object", properties, ...more });
  if ("problem" in made) throw new Error(made.problem);
  return { ...made, schema: made.input.json_schema as Schema & { properties: Schema } };
}

describe("a keyword", () => {
  it.each<[string, Schema, unknown]>([
    [
      "of draft 4",
      { type: "number", maximum: 9, exclusiveMaximum: true, exclusiveMinimum: false },
      { type: "number", exclusiveMaximum: 9 },
    ],
    [
      "of tuples before 2020",
      { items: [{ type: "string" }], additionalItems: false },
      { prefixItems: [{ type: "string" }], items: false },
    ],
    [
      "of dependencies before 2019",
      { dependencies: { b: ["c"], d: { required: ["e"] } } },
      { dependentRequired: { b: ["c"] }, dependentSchemas: { d: { required: ["e"] } } },
    ],
    ["of names", { $id: "https://example.com/a", $anchor: "a", $comment: "a" }, {}],
    ["with a type of another language", { type: "int" }, { type: "integer" }],
    ["with an unknown type", { type: "file" }, {}],
    ["that is wrong", { enum: [], required: "all", minLength: -1, pattern: "(", title: 5, anyOf: [] }, {}],
    ["that says a name twice", { required: ["b", "b", 5] }, { required: ["b"] }],
    [
      "of others",
      { nullable: true, examples: ["a"], "x-order": 1 },
      { nullable: true, examples: ["a"], "x-order": 1 },
    ],
  ])("%s", (_, given, expected) => {
    expect(announced({ a: given }).schema.properties.a).toEqual(expected);
  });

  it("of draft 3 is said by the object", () => {
    const { schema } = announced({ a: { type: "any", required: true }, b: null });
    expect(schema).toEqual({ type: "object", properties: { a: {}, b: {} }, required: ["a"] });
  });
});

describe("a reference", () => {
  it("is replaced by what it refers to, with what is said beside it", () => {
    const $defs = {
      "a/b": { type: "string", description: "Old" },
      anchored: { $anchor: "here", type: "null" },
    };
    const { schema, open } = announced(
      {
        a: { $ref: "#/$defs/a~1b", description: "New" },
        b: { $ref: "#here" },
        c: { $ref: "#/properties/a" },
        d: { $ref: "#/$defs/a~1b", type: "number" },
      },
      { $defs },
    );
    expect(schema.properties).toEqual({
      a: { type: "string", description: "New" },
      b: { type: "null" },
      c: { type: "string", description: "New" },
      d: { type: "number", allOf: [{ type: "string", description: "Old" }] },
    });
    expect(open).toBeUndefined();
  });

  it("that would double the schema again and again is followed only so far", () => {
    const $defs: Schema = { n0: { type: "string" } };
    for (let level = 1; level < 30; level++) {
      const $ref = `#/$defs/n${level - 1}`;
      $defs[`n${level}`] = { type: "object", properties: { a: { $ref }, b: { $ref } } };
    }
    const { schema, open } = announced({ all: { $ref: "#/$defs/n29" } }, { $defs });
    expect(JSON.stringify(schema).length).toBeLessThan(40_000);
    expect(open).toContain("#/$defs/n");
  });

  it.each(["#/__proto__", "#/$defs/constructor", "#/required/0", "other.json", "#/%"])(
    "to nothing (%s) is open",
    ($ref) => {
      const { schema, input, open } = announced({ a: { $ref } }, { $defs: {}, required: ["a"] });
      expect(schema.properties.a).toEqual({});
      expect(open).toBe(`not followed in its schema: ${$ref}`);
      expect(input.parse({ a: 1 })).toEqual({ a: 1 });
    },
  );
});

describe("names", () => {
  it("are plain, distinct, at most 64 characters, and the same each time", () => {
    const own = [
      "$filter",
      "filter",
      "filter[]",
      "a.b",
      "a-b",
      "1st",
      "名前",
      "名",
      "",
      "x".repeat(70),
      "__proto__",
    ];
    const properties = Object.fromEntries(own.map((name) => [name, { type: "string" }]));
    const { schema } = announced(properties);
    const names = Object.keys(schema.properties);
    expect(new Set(names).size).toBe(own.length);
    for (const name of names) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/);
    expect(names.slice(0, 6)).toEqual(["filter_2", "filter", "filter_3", "a_b_2", "a_b", "_1st"]);
    expect(announced(properties).schema).toEqual(schema);
  });

  it("are mapped back only where the schema lists them", () => {
    const { input } = announced({
      "a b": { type: "object", additionalProperties: { type: "string" } },
      list: {
        type: "array",
        items: { anyOf: [{ type: "object", properties: { "a b": {} } }, { type: "string" }] },
      },
    });
    const sent = input.parse({ a_b: { a_b: "mine" }, list: [{ a_b: 1 }, "a_b"] });
    expect(sent).toEqual({ "a b": { a_b: "mine" }, list: [{ "a b": 1 }, "a_b"] });
  });

  it("in what is required, by default or chosen go along", () => {
    const { schema, input } = announced(
      { $a: { type: "object", properties: { $b: { const: 1 } }, default: { $b: 1 }, required: ["$b"] } },
      { required: ["$a"], dependentRequired: { $a: ["$a"] } },
    );
    expect(schema).toEqual({
      type: "object",
      properties: {
        a: {
          ...{ type: "object", default: { b: 1 }, required: ["b"], description: "$a" },
          properties: { b: { const: 1, description: "$b" } },
        },
      },
      required: ["a"],
      dependentRequired: { a: ["a"] },
    });
    expect(input.parse({ a: { b: 1 } })).toEqual({ $a: { $b: 1 } });
    expect(() => input.parse({ a: { b: 2 } })).toThrow("a.b");
  });
});
