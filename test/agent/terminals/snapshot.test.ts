/** Who comes back to a terminal goes on exactly where it is: whatever a program did to it, and does next. */
import unicode11 from "@xterm/addon-unicode11";
import xterm from "@xterm/headless";
import { expect, test } from "vitest";
import { Ring } from "../../../agent/terminals/holder/ring.ts";
import { Screen } from "../../../agent/terminals/holder/screen.ts";

const SIZE = { cols: 30, rows: 10 } as const;

/** As the page makes it. */
function emulator(): xterm.Terminal {
  const terminal = new xterm.Terminal({ ...SIZE, allowProposedApi: true });
  terminal.loadAddon(new unicode11.Unicode11Addon() as unknown as xterm.ITerminalAddon);
  terminal.unicode.activeVersion = "11";
  return terminal;
}

async function shown(...written: readonly string[]) {
  const terminal = emulator();
  const answers: string[] = [];
  terminal.onData((answer) => answers.push(answer));
  for (const text of written) await new Promise<void>((done) => terminal.write(text, done));
  const { active } = terminal.buffer;
  const rows = Array.from({ length: SIZE.rows }, (_, row) => {
    const line = active.getLine(active.baseY + row);
    const cells = Array.from({ length: SIZE.cols }, (_, column) => line?.getCell(column));
    return cells.map(
      (cell) => `${cell?.getChars()}|${cell?.getBgColor()}|${cell?.getFgColor()}|${cell?.isBold()}`,
    );
  });
  return { rows, cursor: [active.cursorX, active.cursorY], modes: terminal.modes, answers };
}

async function snapshotOf(text: string, answer: (text: string) => void = () => undefined): Promise<string> {
  const ring = new Ring(1024 * 1024);
  const screen = new Screen(ring, SIZE, answer);
  ring.append(Buffer.from(text));
  screen.noteOutput();
  const snapshot = await screen.snapshot();
  screen.close();
  return snapshot.text;
}

const LINES = Array.from({ length: 9 }, (_, row) => `line ${row}\r\n`).join("");

test.each([
  ["a scroll region", `${LINES}\u001b[2;8r\u001b[8;5H`],
  [
    "a scroll region below which a bar stands",
    `${LINES}\u001b[1;9r\u001b[10;1H\u001b[42mProgress\u001b[0m\u001b[9;3H`,
  ],
  ["origin mode", `${LINES}\u001b[3;8r\u001b[?6h\u001b[2;4H`],
  ["origin mode without a region", `${LINES}\u001b[?6h\u001b[4;4H`],
  ["lines of DEC", `${LINES}\u001b(0\u001b[2;2H`],
  ["lines of DEC in the second place", `${LINES}\u001b)0\u000e\u001b[2;2H`],
  ["lines of DEC that wait in the second place", `${LINES}\u001b)0\u001b[2;2H`],
  [
    "a saved cursor with colours and lines",
    `${LINES}\u001b[4;7H\u001b[1;31;44m\u001b(0\u001b7\u001b[0m\u001b(B\u001b[2;2H`,
  ],
  ["tab stops of its own", `${LINES}\u001b[3g\u001b[1;5H\u001bH\u001b[1;12H\u001bH\u001b[2;1H`],
  ["no tab stops", `${LINES}\u001b[3g\u001b[2;1H`],
  ["a background without text", "\u001b[44m\u001b[2J\u001b[H"],
  [
    "backgrounds of parts of rows",
    "top\u001b[7;1H\u001b[45m\u001b[5X\u001b[7;9H\u001b[48;5;200m\u001b[K\u001b[48;2;1;2;3m\u001b[9;1H\u001b[K\u001b[0m\u001b[2;1H",
  ],
  ["a background on a screen of its own", "shell$ \u001b[?1049h\u001b[41m\u001b[2J\u001b[3;3H"],
  ["a cursor behind the last column", `${LINES}\u001b[2;8r\u001b[3;1H\u001b[32m${"x".repeat(SIZE.cols)}`],
  ["a wide character in the last column", `${LINES}\u001b[2;8r\u001b[3;1H${"漢".repeat(SIZE.cols / 2)}`],
  ["emoji", "🎉🎉 party\u001b[1;20Hright\u001b[3;1H🧑‍💻✅ done"],
  [
    "all at once",
    `${LINES}\u001b[3g\u001b[1;5H\u001bH\u001b[4;7H\u001b[1m\u001b7\u001b[44m\u001b[3;8r\u001b(0\u001b[?6h\u001b[2;2H`,
  ],
  ["nothing special", `${LINES}done`],
])("of %s", async (_, before) => {
  const snapshot = await snapshotOf(before);
  for (const next of [
    "",
    "\n\n\nnew qqq",
    "\tx\ty",
    "\u000eqqq",
    "\u001b8saved qqq",
    "\u001b[2;1Hsecond",
    "🎉 after\u001b[6n",
    "\u001b[J\u001b[1;1Hx",
  ])
    expect(await shown(snapshot, next), JSON.stringify(next)).toEqual(await shown(before, next));
});

test.each([
  ["the shape of the cursor", "\u001b[5 q"],
  ["output that waits to be shown at once", "\u001b[?2026h"],
  ["a hidden cursor", "\u001b[?25l"],
])("tells %s, until the terminal is reset", async (_, sequence) => {
  expect(await snapshotOf(`text${sequence}`)).toBe(`text${sequence}`);
  expect(await snapshotOf(`text${sequence}\u001bc`)).toBe("");
});

test("emoji are as wide as on the page for programs that ask", async () => {
  const answers: string[] = [];
  await snapshotOf("🎉✅\u001b[6n", (answer) => answers.push(answer));
  expect(answers).toEqual(["\u001b[1;5R"]);
});

test("has no more than its text if no program asked for more", async () => {
  expect(await snapshotOf("one\r\ntwo")).toBe("one\r\ntwo");
});
