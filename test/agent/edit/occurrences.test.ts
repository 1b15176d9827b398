import fc from "fast-check";
import { expect, it } from "vitest";
import { occurrencesOf } from "../../../agent/edit/replace.ts";

it("finds every occurrence, also those that overlap", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 60 });
  const wanted = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(wanted, text, (wanted, text) => {
      const places = [...text].map((_, place) => place).filter((place) => text.startsWith(wanted, place));
      expect([...occurrencesOf(wanted, text)]).toEqual(places);
    }),
    { numRuns: 2000 },
  );
});
