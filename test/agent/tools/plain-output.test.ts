/** A command's output without what steers a terminal. Node's own function is the judge of sequences. */
import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { plainOutput, statesOf, withoutOpenSequence } from "../../../agent/text/plain-output.ts";

const SEQUENCES = [
  "\x1b[0m",
  "\x1b[1;38;5;208m",
  "\x1b[2J",
  "\x1b[K",
  "\x1b[?25l",
  "\x1b[12;3H",
  "\x1b]0;a title\x07",
  "\x1b]8;;https://example.org/\x1b\\",
];

describe("plain output", () => {
  it.each([
    ["\x1b[31mred\x1b[0m text\n", "red text\n", 0],
    ["\x1b]0;title\x07hi", "hi", 0],
    ["\x1b]8;;http://x\x1b\\a link\x1b]8;;\x1b\\", "a link", 0],
    ["\x1b(B\x1bMx\x1b", "x", 0],
    ["\x1bP1$r0m\x1b\\x", "x", 0],
    ["ding\x07", "ding", 0],
    ["\x1b[>0qx", "x", 0],
    ["50%\r", "50%", 0],
    ["10%\r20%\r100%\ndone\n", "100%\ndone\n", 2],
    ["\r10%\r20%\r\n", "20%\r\n", 1],
    ["loading\r\x1b[2Kdone\n", "done\n", 1],
    ["loading\r\x1b[K\nnext\n", "\nnext\n", 1],
    ["a\r\r\r\n", "a\r\n", 0],
    ["|\b/\b-\b\\\b", "", 0],
    ["N\bNA\bAM\bM", "NAM", 0],
    ["old\rMac\rlines", "lines", 2],
    ["\0\x1b[K\0", "\0\0", 0],
    ["\x1b]never closed\nnext \x1b[3", "never closed\nnext 3", 0],
  ])("of %j is %j", (text, plain, overwritten) => {
    expect(plainOutput(text)).toEqual({ text: plain, isChanged: true, overwritten });
  });

  it.each(["", "text\n", "lines\r\nof Windows\r\n", "tab\tform\f", "[31m no escape", "\0\x01 ü 😀\n"])(
    "of %j is the same",
    (text) => {
      expect(plainOutput(text)).toEqual({ text, isChanged: false, overwritten: 0 });
    },
  );

  it("has what any text has but for the sequences in it", () => {
    const part = fc.oneof(
      fc.constantFrom("a", "ü", "😀", "\n", "\r\n", "[", "m", ";", "\t"),
      fc.constantFrom(...SEQUENCES),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
        const text = parts.join("");
        const { text: plain, overwritten } = plainOutput(text);
        expect(plain).toBe(stripVTControlCharacters(text));
        expect(overwritten).toBe(0);
      }),
    );
  });

  it("is plain already, and no longer, for any text", () => {
    const part = fc.constantFrom(
      "a",
      "b ",
      "\n",
      "\r",
      "\b",
      "\x1b",
      "[",
      "2K",
      "31m",
      "]0;",
      "\x07",
      "\x1b\\",
      ...SEQUENCES,
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
        const text = parts.join("");
        const { text: plain } = plainOutput(text);
        expect(plain.length).toBeLessThanOrEqual(text.length);
        for (const sign of ["\x1b", "\x07", "\b"]) expect(plain).not.toContain(sign);
        expect(plain).not.toMatch(/\r(?!\n)/);
        expect(plainOutput(plain)).toEqual({ text: plain, isChanged: false, overwritten: 0 });
        expect(plain.split("\n")).toHaveLength(text.split("\n").length);
      }),
    );
  });

  it("takes no longer for much that never ends", () => {
    for (const text of ["\x1b]", "\x1b[1;", "\x1bP", "\r", "\b", "\x1b[K", "a\r\x1b[K"]) {
      plainOutput(text.repeat(200_000));
      statesOf(text.repeat(200_000));
    }
  });
});

describe("the states of a line", () => {
  it("are all that were shown", () => {
    expect(statesOf("a\r\x1b[Kb\r\n\x1b[1mc\x1b[0m\nd")).toEqual(["a", "b", "c", "d"]);
  });
});

describe("bytes that go on", () => {
  it.each([
    ["a\x1b", "a"],
    ["a\x1b[3", "a"],
    ["a\x1b[3;", "a"],
    ["a\x1b]0;ti", "a"],
    ["a\x1b]0;ti\x1b", "a"],
    ["a\x1b(", "a"],
    ["a\x1b[31m", "a\x1b[31m"],
    [`\x1b]0;${"x".repeat(300)}`, `\x1b]0;${"x".repeat(300)}`],
    ["ü\x1b[", "ü"],
    ["abc", "abc"],
  ])("%j end before a sequence that is not whole", (text, whole) => {
    expect(withoutOpenSequence(Buffer.from(text)).toString()).toBe(whole);
  });
});
