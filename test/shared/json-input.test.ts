import { MatrxError } from "@matrx/shared/errors.ts";
import { check, isDeeper, nestsDeeper } from "@matrx/shared/json-input.ts";
import fc from "fast-check";
import { expect, it } from "vitest";
import * as z from "zod";

const schema = z.object({ list: z.array(z.number()) });
const wrong = (entries: number) => () => check(schema, { list: Array(entries).fill("x") });

it("a list with a fault is refused by the entry's name", () => {
  expect(wrong(3)).toThrow(expect.objectContaining({ message: expect.stringContaining("list.0") }));
});

it("a list with hundreds of thousands of faults is refused, too", () => {
  expect(wrong(300_000)).toThrow(MatrxError);
});

it("a value nests as deep as its text says", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), fc.nat(10), (value, limit) => {
      // A text that is too short to nest so deep is not scanned.
      expect(nestsDeeper(value, limit)).toBe(isDeeper(JSON.stringify(value).padEnd(30), limit));
    }),
  );
  let deep: unknown = [];
  for (let level = 0; level < 100_000; level++) deep = [deep];
  expect(nestsDeeper(deep, 64)).toBe(true);
});
