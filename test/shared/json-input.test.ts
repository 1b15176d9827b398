import { MatrxError } from "@matrx/shared/errors.ts";
import { check } from "@matrx/shared/json-input.ts";
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
