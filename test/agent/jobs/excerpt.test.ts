import { describe, expect, it } from "vitest";
import { firstChars, lastChars } from "../../../agent/jobs/excerpt.ts";

describe("a part of a text", () => {
  const bytes = Buffer.from("aé€😀b");

  it.each([
    [0, ""],
    [1, "a"],
    [3, "aé€"],
    [4, "aé€"],
    [5, "aé€😀"],
    [9, "aé€😀b"],
  ])("of %i units from its beginning breaks no character", (chars, wanted) => {
    expect(firstChars(bytes, chars).toString()).toBe(wanted);
  });

  it.each([
    [0, ""],
    [2, "b"],
    [3, "😀b"],
    [4, "€😀b"],
    [9, "aé€😀b"],
  ])("of %i units from its end breaks no character", (chars, wanted) => {
    expect(lastChars(bytes, chars).toString()).toBe(wanted);
  });
});
