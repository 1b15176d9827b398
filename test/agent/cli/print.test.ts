import { expect, test, vi } from "vitest";
import { jsonText, plain, printTable, toolOutput } from "../../../agent/cli/output/print.ts";

const terminal = { isTTY: true } as NodeJS.WriteStream;
const pipe = { isTTY: false } as NodeJS.WriteStream;

test.each([
  ["a title", "\u001b]0;owned\u0007after", "after"],
  ["a title that ends otherwise", "\u001b]2;owned\u001b\\after", "after"],
  ["a cleared screen", "before\u001b[2J\u001b[Hafter", "beforeafter"],
  ["colours", "\u001b[31mred\u001b[0m", "red"],
  ["an 8-bit sequence", "\u009b2Jafter", "after"],
  ["a line that is written over", "rm -rf /\recho hello", "rm -rf /\necho hello"],
  ["lines of Windows", "one\r\ntwo\r\n", "one\ntwo\n"],
  ["a bell and a backspace", "a\u0007b\u0008c", "a\u{fffd}b\u{fffd}c"],
  ["an order of its own", "a\u202eb\u2066c\u200fd", "a\u{fffd}b\u{fffd}c\u200fd"],
  ["what is no control", "tab\tand\nlines, \u00e9, \u{1f600}", "tab\tand\nlines, \u00e9, \u{1f600}"],
])("a terminal that shows what a tool said is not steered by %s", (_what, said, shown) => {
  expect(toolOutput(said, terminal)).toBe(shown);
  expect(toolOutput(said, pipe)).toBe(said);
});

test("a sequence that comes in pieces steers nothing either", () => {
  const whole = "\u001b]0;owned\u0007\u001b[2J";
  for (let cut = 1; cut < whole.length; cut++) {
    const shown = [whole.slice(0, cut), whole.slice(cut)]
      .map((piece) => toolOutput(piece, terminal))
      .join("");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be left
    expect(shown).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
  }
});

test("names in lists turn nothing round", () => {
  expect(plain("lap\u202etop\u2066\u001b[2J")).toBe("lap\u{fffd}top\u{fffd}\u{fffd}[2J");
});

test("a cell of a table stays on its line and steers nothing", () => {
  const print = vi.spyOn(console, "log").mockImplementation(() => undefined);
  printTable(["NAME", "ID"], [["lap\ntop\u001b[2J", "1"]]);
  const lines = print.mock.calls.map(([line]) => line);
  print.mockRestore();
  expect(lines).toEqual([expect.stringContaining("NAME"), "lap top\u{fffd}[2J  1"]);
});

test("JSON says the same without characters that steer a terminal", () => {
  const value = { output: "\u001b[2J\u009b2J\u202ea\u007f" };
  expect(jsonText(value)).toMatch(/^[ -~]+$/);
  expect(JSON.parse(jsonText(value))).toEqual(value);
});
