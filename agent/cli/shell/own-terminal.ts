/** The terminal in which `matrx shell` runs: raw while it shows another one, and as it was afterwards. */

/** What a program may have left behind: screen of its own, mouse, paste marks, key modes, hidden cursor, colours. */
const RESTORE = [
  ...["\u001b[?1049l", "\u001b[?1000l", "\u001b[?1002l", "\u001b[?1003l", "\u001b[?1004l", "\u001b[?1006l"],
  ...["\u001b[?2004l", "\u001b[?1l", "\u001b>", "\u001b[?25h", "\u001b[0m"],
].join("");

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
    process.stdout.on("resize", onResize);
  }

  get size(): Size {
    const { columns = 80, rows = 24 } = process.stdout;
    return { cols: columns, rows };
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
