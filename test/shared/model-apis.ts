/** What the APIs of Anthropic, OpenAI and Gemini take of a schema, as docs/decisions/0046-model-schemas.md has it. */
import { expect } from "vitest";

type Schema = Record<string, unknown>;

/** Keywords that all three have; Gemini refuses a request with any other. */
const KEYWORDS = new Set([
  ...[
    "type",
    "title",
    "description",
    "default",
    "enum",
    "items",
    "properties",
    "required",
    "anyOf",
    "pattern",
  ],
  ...["format", "minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength"],
  // Of JSON Schema, this is no keyword: ignored there.
  "nullable",
]);
export const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];

/** Fails if one of the three would refuse it. */
export function expectTaken(schema: unknown, at = ""): void {
  const { type, items, properties, required = [], enum: values, anyOf, format, ...rest } = schema as Schema;
  for (const key of Object.keys(schema as Schema)) expect(KEYWORDS, `${at}: ${key}`).toContain(key);
  if (anyOf !== undefined) {
    expect(["anyOf", "nullable"], at).toEqual(expect.arrayContaining(Object.keys(schema as Schema)));
    expect((anyOf as unknown[]).length).toBeGreaterThan(1);
    for (const one of anyOf as unknown[]) expectTaken(one, `${at}/anyOf`);
    return;
  }
  expect(TYPES, at).toContain(type);
  if (format !== undefined) expect([type, format]).toEqual(["string", "date-time"]);
  if (values !== undefined) {
    expect(type).toBe("string");
    expect((values as unknown[]).length).toBeGreaterThan(0);
    for (const value of values as unknown[]) expect(value, at).toMatch(/./s);
    expect(new Set(values as unknown[]).size).toBe((values as unknown[]).length);
  }
  expect(items === undefined, `${at}: items`).toBe(type !== "array");
  if (items !== undefined) expectTaken(items, `${at}/items`);
  for (const name of required as string[]) expect(Object.keys(properties as Schema), at).toContain(name);
  expect(new Set(required as string[]).size).toBe((required as string[]).length);
  for (const [name, one] of Object.entries((properties as Schema) ?? {})) {
    expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/);
    expectTaken(one, `${at}/${name}`);
  }
  for (const key of ["minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength"])
    if (key in rest) expect(typeof rest[key], `${at}: ${key}`).toBe("number");
}
