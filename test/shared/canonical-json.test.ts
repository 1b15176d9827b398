import canonicalize from "canonicalize";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { canonicalJson } from "../../shared/canonical-json.ts";

it("is that of RFC 8785, for whatever JSON can say", () => {
  void fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
      const parsed: unknown = JSON.parse(JSON.stringify(value));
      expect(canonicalJson(parsed)).toBe(canonicalize(parsed));
    }),
  );
});

it("leaves out members without a value, as JSON does", () => {
  expect(canonicalJson({ b: undefined, a: [undefined, 1] })).toBe('{"a":[null,1]}');
});
