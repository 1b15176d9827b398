/** Decoding by hand and by the runtime is the same. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { strictTextOf, textOf } from "../../shared/utf8.ts";

it("reads any bytes as the runtime's decoder does", () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 1200 }),
    fc.string({ maxLength: 700 }).map((text) => new TextEncoder().encode(text)),
  );
  fc.assert(
    fc.property(bytes, (value) => {
      expect(textOf(value)).toBe(new TextDecoder("utf-8", { ignoreBOM: true }).decode(value));
      const strict = () => new TextDecoder("utf-8", { ignoreBOM: true, fatal: true }).decode(value);
      let expected: string | undefined;
      try {
        expected = strict();
      } catch {
        expect(() => strictTextOf(value)).toThrow(TypeError);
        return;
      }
      expect(strictTextOf(value)).toBe(expected);
    }),
  );
});
