/** What a hostile program writes costs the screen a bounded time and memory: all terminals share its process. */
import { expect, test } from "vitest";
import { Ring } from "../../../agent/terminals/holder/ring.ts";
import { Screen } from "../../../agent/terminals/holder/screen.ts";

const MOST_HEAP = 64 * 1024 * 1024;
const PIECE_BYTES = 64 * 1024;

/** A screen that has drawn a text, or so much of it repeated, and what that cost. */
async function drawn(text: string, { cols = 80, rows = 24, bytes = 0, prefix = "" } = {}) {
  const ring = new Ring(1024 * 1024);
  const screen = new Screen(ring, { cols, rows }, () => undefined);
  const write = async (piece: string) => {
    ring.append(Buffer.from(piece));
    screen.noteOutput();
    return await screen.read();
  };
  const heap = process.memoryUsage().heapUsed;
  let last = performance.now();
  let stall = 0;
  let mostHeap = 0;
  const watch = setInterval(() => {
    const now = performance.now();
    stall = Math.max(stall, now - last);
    last = now;
  }, 5);
  await write(prefix);
  const piece = text.repeat(Math.max(1, Math.floor(Math.min(PIECE_BYTES, bytes) / text.length)));
  for (let sent = 0; sent === 0 || sent < bytes; sent += piece.length) {
    await write(piece);
    mostHeap = Math.max(mostHeap, process.memoryUsage().heapUsed - heap);
  }
  clearInterval(watch);
  const shown = (await write("\u0007\u001b[2J\u001b[Hend")).text;
  screen.close();
  return { shown, stall, mostHeap };
}

test.each([..."STLMIZ", "b"])(
  "two thousand million times CSI %s are as many as the screen has room for",
  async (final) => {
    const { shown, stall } = await drawn(`a\u001b[2147483647${final}`);
    expect(shown).toBe("end");
    expect(stall).toBeLessThan(1000);
  },
  10_000,
);

const WHOLE_SCREENS = ["J", "2J", "1000S", "9'}", "?1049h\u001b[?1049l"].map((rest) => `\u001b[${rest}`);

test.each([...WHOLE_SCREENS, "\u001bc", "\u001b#8"])(
  "of whole screens that are changed again and again (%j) some are left out",
  async (text) => {
    const { shown, stall } = await drawn(text, { cols: 1000, rows: 1000, bytes: 32 * 1024 });
    expect(shown).toContain("end");
    expect(stall).toBeLessThan(1000);
  },
  20_000,
);

test.each([
  ["a title", "A", "\u001b]0;"],
  ["a question", "A", "\u001bP$q"],
  ["a character with marks", "\u0301", "xa"],
  ["links", "\u001b]8;;https://example.com\u0007", ""],
])(
  "%s without an end takes no memory",
  async (_, text, prefix) => {
    const { shown, mostHeap } = await drawn(text, { bytes: 4 * 1024 * 1024, prefix });
    expect(shown).toBe("end");
    expect(mostHeap).toBeLessThan(MOST_HEAP);
  },
  30_000,
);

test("text that has no sequences for long is drawn whole, and marks stand on their characters", async () => {
  const ring = new Ring(1024 * 1024);
  const screen = new Screen(ring, { cols: 100, rows: 24 }, () => undefined);
  const line = "é€".repeat(50);
  for (let written = 0; written < 200_000; written += 5000) {
    ring.append(Buffer.from(line.repeat(20)));
    screen.noteOutput();
    await screen.read();
  }
  ring.append(Buffer.from("\u001b[2;1H\u001b[2Ka\u0301\u0302b-\u001b[3b"));
  screen.noteOutput();
  const lines = (await screen.read()).text.split("\n");
  expect(lines[0]).toBe(line);
  expect(lines[1]).toBe("a\u0301\u0302b----");
  screen.close();
});
