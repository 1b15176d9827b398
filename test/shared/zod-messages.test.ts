import { check } from "@matrx/shared/json-input.ts";
import { expect, test } from "vitest";
import * as z from "zod";

const schema = z.strictObject({
  name: z.string().min(1).max(4).optional(),
  count: z.int().min(1).max(9).optional(),
  list: z.array(z.string()).min(1).max(2).optional(),
  kind: z.enum(["a", "b"]).optional(),
  flag: z.boolean().optional(),
  when: z.iso.datetime().optional(),
  own: z.string().regex(/^x$/, "must be an x").optional(),
  inner: z.object({ must: z.string() }).optional(),
});

test.each([
  [{ name: "" }, "name: must have at least 1 character"],
  [{ name: "abcde" }, "name: must have at most 4 characters"],
  [{ name: 1 }, "name: must be text"],
  [{ count: 0 }, "count: must be at least 1"],
  [{ count: 10 }, "count: must be at most 9"],
  [{ count: 1.5 }, "count: must be a whole number"],
  [{ count: "1" }, "count: must be a number"],
  [{ list: [] }, "list: must have at least 1 entry"],
  [{ list: ["a", "b", "c"] }, "list: must have at most 2 entries"],
  [{ kind: "c" }, 'kind: must be "a" or "b"'],
  [{ flag: "yes" }, "flag: must be true or false"],
  [{ when: "yesterday" }, "when: must be a time in UTC such as 2026-02-12T10:30:00Z"],
  [{ own: "y" }, "own: must be an x"],
  [{ inner: {} }, "inner.must: is missing"],
  [{ nmae: "x" }, "Unknown parameter: nmae"],
])("%j is refused with %j", (value, message) => {
  expect(() => check(schema, value)).toThrow(
    expect.objectContaining({ code: "INVALID_PARAMETERS", message }),
  );
});
