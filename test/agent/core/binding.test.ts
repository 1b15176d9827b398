import fc from "fast-check";
import { expect, test } from "vitest";
import { type BindingParts, bindingOf, canonicalJson, differences } from "../../../agent/core/binding.ts";

test("JSON is canonical as in RFC 8785: its examples of numbers, texts and the order of keys", () => {
  const numbers = JSON.parse("[333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001, -0]");
  expect(canonicalJson(numbers)).toBe("[333333333.3333333,1e+30,4.5,0.002,1e-27,0]");
  const text = "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"/";
  expect(canonicalJson(text)).toBe('"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"');
  const keys = ["\u20ac", "\r", "\ufb33", "1", "\ud83d\ude00", "\u0080", "\u00f6"];
  const object = Object.fromEntries(keys.map((key) => [key, null]));
  expect(Object.keys(JSON.parse(canonicalJson({ literals: [null, true, false] })))).toEqual(["literals"]);
  const order = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\ud83d\ude00", "\ufb33"];
  expect(canonicalJson(object)).toBe(`{${order.map((key) => `${JSON.stringify(key)}:null`).join(",")}}`);
});

test("half a character is refused: it has no canonical form", () => {
  expect(() => canonicalJson({ command: "\ud800" })).toThrow(
    expect.objectContaining({ code: "INVALID_PARAMETERS" }),
  );
});

const word = fc.constantFrom("", "a", "b", "a,b", '"', "\u202e", "/a", "/b");
const parts: fc.Arbitrary<BindingParts> = fc.record({
  device: word,
  grant: word,
  session: fc.option(word),
  cwd: word,
  tool: word,
  input: fc.dictionary(
    word,
    fc.oneof(word, fc.integer({ min: 0, max: 2 }), fc.array(word, { maxLength: 2 })),
  ),
  paths: fc.array(
    fc.record({
      path: word,
      intent: fc.constantFrom("read" as const, "write" as const, "remove" as const),
      kind: fc.constantFrom("missing" as const, "file" as const, "link" as const),
      content: fc.option(word, { nil: undefined }),
    }),
    { maxLength: 2 },
  ),
  facts: fc.dictionary(word, word, { maxKeys: 2 }),
  limits: word,
});

/** The same with the keys of every object in another order. */
function reordered<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(reordered) as Value;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, one]) => [key, reordered(one)]),
  ) as Value;
}

test("two bindings are equal exactly if nothing that they are about differs, and what differs is named", () => {
  const pairs = fc.oneof(
    fc.tuple(parts, parts),
    parts.map((one) => [one, reordered(one)] as const),
    fc
      .tuple(parts, parts, fc.constantFrom(...(Object.keys(EMPTY) as (keyof BindingParts)[])))
      .map(([one, other, part]) => [one, { ...one, [part]: other[part] }] as const),
  );
  fc.assert(
    fc.property(pairs, ([one, other]) => {
      const isSame = canonicalJson(one) === canonicalJson(other);
      expect(bindingOf(one) === bindingOf(other)).toBe(isSame);
      expect(differences(one, other).length === 0).toBe(isSame);
    }),
    { numRuns: 2000 },
  );
});

const EMPTY: BindingParts = {
  ...{ device: "", grant: "", session: null, cwd: "", tool: "", input: {}, paths: [], facts: {}, limits: "" },
};

test("a binding does not depend on when a file was touched, only on what is in it", () => {
  const path = { path: "/a", named: "/a", intent: "read", kind: "file", content: "sha256:00" } as const;
  const before = { ...EMPTY, paths: [{ ...path, stamp: "1" }] };
  const now = { ...EMPTY, paths: [{ ...path, stamp: "2" }] };
  expect(bindingOf(before)).toBe(bindingOf(now));
  expect(differences(before, now)).toEqual([]);
});
