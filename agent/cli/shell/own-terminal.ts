/** The terminal in which `matrx shell` runs: raw while it shows another one, and as it was afterwards. */

/** What a program may have left behind. */
const RESTORE = [
  // A screen of its own, or a part that alone scrolls: the latter's end moves the cursor.
  ...["\u001b[?1049l", "\u001b7", "\u001b[r", "\u001b8"],
  // Mouse, focus and paste marks.
  ...["\u001b[?9l", "\u001b[?1000l", "\u001b[?1002l", "\u001b[?1003l", "\u001b[?1006l"],
  ...["\u001b[?1015l", "\u001b[?1016l", "\u001b[?1004l", "\u001b[?2004l"],
  // How keys are sent: cursor keys, keypad, xterm's modified keys and kitty's flags.
  ...["\u001b[?1l", "\u001b>", "\u001b[>4m", "\u001b[=0u"],
  // How text is written: held back, inserted, not wrapped, relative to the part that scrolls, line drawing, colours.
  ...["\u001b[?2026l", "\u001b[4l", "\u001b[?7h", "\u001b[?6l", "\u000f\u001b(B", "\u001b[0m"],
  // The cursor, and its shape.
  ...["\u001b[?25h", "\u001b[0 q"],
].join("");
/** For a terminal that does not know its own size. */
const USUAL = { cols: 80, rows: 24 } as const;
const MOST_CELLS = 1000;

const CLEAR = Buffer.from(`${RESTORE}\u001b[2J\u001b[H`);

export interface Size {
  readonly cols: number;
  readonly rows: number;
}

export class OwnTerminal implements Disposable {
  readonly #onKeys: (bytes: Buffer) => void;
  readonly #onResize: () => void;

  constructor(onKeys: (bytes: Buffer) => void, onResize: () => void) {
    this.#onKeys = onKeys;
    this.#onResize = onResize;
    process.stdin.setRawMode(true);
    process.stdin.on("data", onKeys);
    // The view before this one, if there was one, paused it.
    process.stdin.resume();
    process.stdout.on("resize", onResize);
  }

  /** As a device's terminal may have it. */
  static get size(): Size {
    const { columns, rows } = process.stdout;
    return {
      cols: Math.min(columns || USUAL.cols, MOST_CELLS),
      rows: Math.min(rows || USUAL.rows, MOST_CELLS),
    };
  }

  /** Empties the screen, and makes it as it was before programs changed how it works. */
  async clear(): Promise<void> {
    await this.write(CLEAR);
  }

  /** Resolves when there is room for more. */
  async write(bytes: Uint8Array): Promise<void> {
    if (process.stdout.write(bytes)) return;
    await new Promise((resolve) => process.stdout.once("drain", resolve));
  }

  /** Says something of ours on a line of its own. */
  say(text: string): void {
    process.stdout.write(`\r\n\u001b[0;2m[${text}]\u001b[0m\r\n`);
  }

  ring(): void {
    process.stdout.write("\u0007");
  }

  /** Keys wait in the terminal until they are resumed. */
  pauseKeys(): void {
    process.stdin.pause();
  }

  resumeKeys(): void {
    process.stdin.resume();
  }

  [Symbol.dispose](): void {
    process.stdin.off("data", this.#onKeys);
    process.stdout.off("resize", this.#onResize);
    process.stdin.setRawMode(false);
    process.stdin.pause();
    process.stdout.write(RESTORE);
  }
}
