import { oneLine } from "@matrx/shared/one-line.ts";
import { expect, test } from "vitest";

test.each([
  ["plain, Ä, 漢, 👩", "plain, Ä, 漢, 👩"],
  ["a\nb\r\n\tc", "a\\nb\\r\\n\\tc"],
  ["\u001b[2J\u0007\u009b2J\u007f", "\\u{1b}[2J\\u{7}\\u{9b}2J\\u{7f}"],
  ["a\u0085b\u2028c\u2029d", "a\\u{85}b\\u{2028}c\\u{2029}d"],
  ["\u202egnp.exe\u2066\u200f", "\\u{202e}gnp.exe\\u{2066}\\u{200f}"],
  ["\ud83d", "\\u{d83d}"],
])("%j becomes %j", (text, shown) => {
  expect(oneLine(text, 100)).toBe(shown);
});

test("is cut, and says so", () => {
  expect(oneLine("abcdef", 4)).toBe("abc…");
  expect(oneLine("abcd", 4)).toBe("abcd");
});
