/** A terminal's colours: what the app makes of them, and that nothing a machine writes hides or steers anything. */
import { describe, expect, test } from "vitest";
import { contrast, cssColours, type Rgb, readable } from "../../../web/src/ui/ansi/colours.ts";
import { AnsiReader, segmentsOf } from "../../../web/src/ui/ansi/reader.ts";
import { withColours } from "../../../web/src/ui/output/coloured.ts";

const ESC = "\x1b[";

describe("colours of output", () => {
  test.each([
    ["plain", [{ text: "plain", style: {} }]],
    [`${ESC}31mred${ESC}0m done`, [styled("red", { fg: 1 }), styled(" done", {})]],
    [
      `${ESC}mall${ESC}1;3;4;9mmany`,
      [styled("all", {}), styled("many", flags("bold italic underline strike"))],
    ],
    [`${ESC}1;2mx${ESC}22my`, [styled("x", flags("bold dim")), styled("y", {})]],
    [`${ESC}94;101mx${ESC}39;49my`, [styled("x", { fg: 12, bg: 9 }), styled("y", {})]],
    [`${ESC}38;5;208mx`, [styled("x", { fg: 208 })]],
    [`${ESC}48;2;1;2;300mx`, [styled("x", { bg: [1, 2, 255] })]],
    [`${ESC}38:2::9:8:7mx`, [styled("x", { fg: [9, 8, 7] })]],
    [`${ESC}38;5;1;4mx`, [styled("x", { fg: 1, underline: true })]],
    [`${ESC}7mx${ESC}27my`, [styled("x", { inverse: true }), styled("y", {})]],
    [`${ESC}8mhidden${ESC}5mblinking`, [styled("hiddenblinking", {})]],
    [`${ESC}99;;1mx`, [styled("x", { bold: true })]],
  ])("%j", (text, segments) => {
    expect(segmentsOf(text)).toEqual(segments);
  });

  test("what else would steer a terminal is seen as signs", () => {
    const text = segmentsOf(`${ESC}2J${ESC}3Aa\x07\x1b]0;title\x07b\x9bc\r\nd\re`);
    expect(text).toEqual([styled("␛[2J␛[3Aa␇␛]0;title␇b\\x9bc\nd␍\ne", {})]);
  });

  test("a colour or a line's end that comes in two pieces is still one", () => {
    const reader = new AnsiReader();
    expect(reader.read(`a${ESC}3`)).toEqual([styled("a", {})]);
    expect(reader.read("1mb\r")).toEqual([styled("b", { fg: 1 })]);
    expect(reader.read("\nc\x1b")).toEqual([styled("\nc", { fg: 1 })]);
    expect(reader.end()).toEqual([styled("␛", { fg: 1 })]);
  });

  test("a flood of colours ends in plain text, not in a flood of elements", () => {
    const segments = segmentsOf(`${ESC}31mx${ESC}32my`.repeat(20_000));
    expect(segments.length).toBeLessThan(6_000);
    expect(segments.map(({ text }) => text).join("")).toBe("xy".repeat(20_000));
  });

  test("every colour can be read on every other", () => {
    const colours: Rgb[] = [0, 40, 128, 200, 255].flatMap((a) =>
      [0, 128, 255].map((b) => [a, b, 255 - a] as const),
    );
    for (const ink of colours)
      for (const paper of colours)
        expect(contrast(readable(ink, paper), paper), `${ink} on ${paper}`).toBeGreaterThanOrEqual(4.5);
  });

  test("text in the colour of its ground is not hidden", () => {
    const { color, backgroundColor } = cssColours({ fg: 1, bg: 1 });
    expect(backgroundColor).toMatch(/^light-dark\(rgb/);
    expect(color).not.toBe(backgroundColor);
    expect(cssColours({ bold: true })).toEqual({});
  });
});

describe("colours that an answer lacks", () => {
  test("come from the live output that says the same", () => {
    const live = `${ESC}31mred${ESC}0m\r\n`;
    expect(withColours(live, "red\n[Exit code 3]")).toBe(`${ESC}31mred${ESC}0m\n${ESC}0m[Exit code 3]`);
  });

  test.each([
    ["it says something else", `${ESC}31mred${ESC}0m\n`, "blue\n"],
    ["some of it is missing", undefined, "red\n"],
    ["it has none", "red\n", "red\n"],
  ])("do not if %s", (_, live, output) => {
    expect(withColours(live, output)).toBe(output);
  });
});

function styled(text: string, style: object) {
  return { text, style };
}

function flags(names: string) {
  return Object.fromEntries(names.split(" ").map((name) => [name, true]));
}
