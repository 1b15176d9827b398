/** How an answer is shown: which views it has, and what they make of it. */
import { describe, expect, test } from "vitest";
import { languageOf } from "../../../web/src/ui/code/languages.ts";
import { inTerminalColours } from "../../../web/src/ui/code/terminal-colours.ts";
import { beginning, blocksOf } from "../../../web/src/ui/result/cut.ts";
import { diffLines } from "../../../web/src/ui/result/diff.ts";
import { openDepthOf } from "../../../web/src/ui/result/json-size.ts";
import { cellText, compareCells, rowsIn } from "../../../web/src/ui/result/rows.ts";
import { viewsOf } from "../../../web/src/ui/result/views.ts";

const DIFF = "Edited a.sql: 2 lines\n@@ -1,3 +1,2 @@\n same\n--- not a header\n-old\n+new\nafter";

describe("views of an answer", () => {
  test.each([
    ["text", { output: "hello" }, ["text"], "text"],
    ["nothing", { output: "" }, ["text"], "text"],
    ["a number is only text", { output: "42" }, ["text"], "text"],
    ["broken JSON is text", { output: '{"a":' }, ["text"], "text"],
    ["an object", { output: ' {"a": 1}\n' }, ["text", "json"], "json"],
    ["rows", { output: '[{"a": 1}, {"b": 2}]' }, ["text", "table", "json"], "table"],
    ["rows in an object", { output: '{"rows": [{"a": 1}], "count": 1}' }, ["text", "table", "json"], "table"],
    ["a line of JSON each", { output: '{"a": 1}\n{"a": 2}\n' }, ["text", "table", "json"], "table"],
    ["words in an array", { output: '["a", "b"]' }, ["text", "json"], "json"],
    ["data beside the text", { output: "", structured: { a: [1] } }, ["json"], "json"],
    [
      "rows in metadata",
      { output: "a\n", metadata: { path: "/", entries: [{ name: "a" }] } },
      ["text", "table"],
      "table",
    ],
    ["two tables are none", { output: "a", metadata: { a: [{ x: 1 }], b: [{ y: 1 }] } }, ["text"], "text"],
    ["no rows", { output: "none", metadata: { entries: [] } }, ["text"], "text"],
    ["a diff", { output: DIFF, metadata: { bytes: 3 } }, ["text", "diff"], "diff"],
  ] as const)("%s", (_, answer, kinds, best) => {
    expect(viewsOf(answer)).toMatchObject({ kinds, best });
  });

  test("a text of many megabytes is not taken apart", () => {
    const output = `[${"1,".repeat(5_000_000)}1]`;
    expect(viewsOf({ output }).kinds).toEqual(["text"]);
  });
});

test("lines of a diff are told apart by its own counts", () => {
  expect(diffLines(`${DIFF}\n`).map(({ kind, text }) => `${kind} ${text}`)).toEqual([
    "place Edited a.sql: 2 lines",
    "place @@ -1,3 +1,2 @@",
    "same  same",
    "removed --- not a header",
    "removed -old",
    "added +new",
    "place after",
  ]);
});

test("a table has the columns of all its rows, and short cells that sort", () => {
  const rows = rowsIn([
    { name: "b", size: 10 },
    { name: "a", more: { x: [1] } },
  ]);
  expect(rows?.columns).toEqual(["name", "size", "more"]);
  expect(cellText({ x: [1] })).toBe('{"x":[1]}');
  expect(cellText(null)).toBe("");
  expect(cellText("x".repeat(9_999))).toHaveLength(501);
  expect([10, 9, 100].toSorted(compareCells)).toEqual([9, 10, 100]);
  expect(["b10", "", "b9"].toSorted(compareCells)).toEqual(["b9", "b10", ""]);
  const wide = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`c${at}`, at]));
  expect(rowsIn([wide])?.columns).toHaveLength(30);
});

test("a long text is cut at a line, and drawn in blocks of lines", () => {
  const text = "0123456789\n".repeat(20_000);
  expect(beginning(text, 100_000)).toHaveLength(99_990);
  expect(beginning("x".repeat(300), 100)).toHaveLength(100);
  const blocks = blocksOf(text);
  expect(blocks.join("")).toBe(text);
  expect(blocks.length).toBeGreaterThan(3);
  expect(blocks.every((block) => block.endsWith("\n") || block === "")).toBe(true);
  expect(blocksOf("x".repeat(200_000))).toHaveLength(1);
});

test("short JSON is open, long JSON only at its top", () => {
  expect(openDepthOf({ a: { b: [1, 2] } })).toBe(8);
  expect(openDepthOf(Array.from({ length: 1_000 }, (_, at) => ({ at })))).toBe(1);
  const deep: Record<string, unknown> = {};
  let inner = deep;
  for (let at = 0; at < 5_000; at++) inner = inner.x = {};
  expect(openDepthOf(deep)).toBe(8);
});

describe("the colours of a file that was read", () => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the signs of colours
  const plain = (text: string) => text.replace(/\x1b\[[\d;]*m/g, "");
  const PYTHON = `     7\tdef add(a):\n     8\t\ttext = """one\n     9\ttwo"""  # three\n\n[Lines 7 to 9 of 20. Continue with offset=10]`;

  test("are those of its language, behind the numbers and over the lines' ends, and change no letter", () => {
    const coloured = inTerminalColours(PYTHON, "python");
    expect(plain(coloured)).toBe(PYTHON);
    expect(coloured).toContain("\x1b[35mdef\x1b[0m");
    expect(coloured).toContain('\x1b[32mtwo"""\x1b[0m');
    expect(coloured).toContain("\x1b[2;3m# three\x1b[0m");
    expect(coloured.endsWith("\n\n[Lines 7 to 9 of 20. Continue with offset=10]")).toBe(true);
  });

  test.each([
    ["raw", "const a = 1;\nb\tc\n"],
    ["empty", ""],
    ["an empty file", "[The file is empty]"],
    ["numbers alone", "     1\t"],
    ["from the end", "    -2\ta\n    -1\tb"],
  ])("%s: the text stays as it is", (_name, text) => {
    expect(plain(inTerminalColours(text, "typescript"))).toBe(text);
  });

  test("what a file hides is shown, as in its preview", () => {
    const coloured = plain(inTerminalColours("     1\tconst a = 1; // \u202Eb\r", "typescript"));
    expect(coloured).not.toMatch(/[\u202E\r]/);
    expect(coloured).toMatch(/^ {5}1\tconst a = 1; \/\/ .*b$/);
  });

  test("are told by the path's last part", () => {
    expect(["/a.d/b.ts", "C:\\x\\Makefile", "~/.bashrc", "/srv.js/notes", "a.png"].map(languageOf)).toEqual([
      ...["typescript", "makefile", "bash", undefined, undefined],
    ]);
  });
});
