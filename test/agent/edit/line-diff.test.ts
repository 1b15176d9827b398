import { applyPatch } from "diff";
import fc from "fast-check";
import { expect, it } from "vitest";
import { diffLines } from "../../../agent/edit/line-diff.ts";

const text = fc
  .array(fc.constantFrom("a\n", "b\n", "c\r\n", "\n", "d"), { maxLength: 40 })
  .map((lines) => lines.join(""));

it("gives a diff that makes the new text of the old one, with line numbers of the whole text", () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const diff = diffLines(before, after, (part) => part);
      const patch = ["--- a", "+++ b", ...(diff?.lines ?? [])].join("\n");
      const options = { fuzzFactor: 0, autoConvertLineEndings: false };
      expect(before === after ? before : applyPatch(before, `${patch}\n`, options)).toBe(after);
      expect(diff?.added).toBe(diff?.lines.filter((line) => line.startsWith("+")).length);
    }),
    { numRuns: 1000 },
  );
});

it("is not made of texts that differ too much, and says so", () => {
  const lines = (word: string) => Array.from({ length: 3000 }, (_, index) => `${word} ${index}\n`).join("");
  expect(diffLines(lines("old"), lines("new"), (part) => part)).toBeUndefined();
  const between = "same\n".repeat(300_000);
  expect(diffLines(`a\n${between}a`, `b\n${between}b`, (part) => part)).toBeUndefined();
  expect(diffLines(`a\n${between}a`, `a\n${between}b`, (part) => part)?.lines).toHaveLength(8);
});
