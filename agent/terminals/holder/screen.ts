/**
 * What a terminal's screen shows. The parser is far slower than a program that floods its terminal: it is fed a little at
 * a time, and leaves out what it cannot keep up with.
 */
import { setTimeout as sleep } from "node:timers/promises";
import serialize from "@xterm/addon-serialize";
import unicode11 from "@xterm/addon-unicode11";
import xterm from "@xterm/headless";
import { fitsMessage } from "../frames.ts";
import { TERMINAL_LIMITS, type TerminalScreen } from "../protocol.ts";
import { boundParser } from "./parser-bounds.ts";
import { Refusal } from "./refusal.ts";
import type { Ring } from "./ring.ts";
import { Untold } from "./untold.ts";

/** Bytes for the parser at a time, and the pause between them in milliseconds: about 1 MB a second. */
const FEED_BYTES = 16 * 1024;
const FEED_PAUSE_MS = 12;
/** Further behind than this it leaves out all but the last part, in bytes. */
const MOST_BEHIND = 256 * 1024;
const KEPT_BEHIND = 64 * 1024;
/** How long somebody waits for the screen at most; then it leaves out the rest, in milliseconds. */
const MOST_WAIT_MS = 2000;
/** Bytes of one sequence: the library would keep megabytes, at many times their size. */
const LONGEST_SEQUENCE = 64 * 1024;
const ENDS_SEQUENCE: readonly number[] = [0x07, 0x18, 0x1a, 0x1b];
/** Cells that a snapshot may have, first if few have colours: one with colours of its own takes about 64 bytes of a message. */
const SNAPSHOT_CELLS = [256 * 1024, 120 * 1024] as const;
/** Characters of a line without colours: 1,000 such lines fit a message too. */
const MOST_IN_LINE = 2000;
/** Ends a sequence that was cut off. */
const CANCEL = "\u0018";
export class Screen {
  readonly #terminal: xterm.Terminal;
  readonly #serialize = new serialize.SerializeAddon();
  readonly #ring: Ring;
  /** The next byte to be drawn. */
  #at = 0;
  #feeding: Promise<void> | undefined;
  readonly #beginPiece: () => void;
  readonly #closed = Promise.withResolvers<never>();
  /** Somebody waits for the screen. */
  #hurry = 0;
  /** When the rest is left out, so that nobody waits longer. */
  #patience = Number.POSITIVE_INFINITY;
  /** Bytes since one that ends a sequence. */
  #inSequence = 0;
  readonly #untold: Untold;

  /** `answer` gets what programs asked the terminal for. */
  constructor(ring: Ring, { cols, rows }: { cols: number; rows: number }, answer: (text: string) => void) {
    this.#ring = ring;
    const scrollback = TERMINAL_LIMITS.scrollback;
    this.#terminal = new xterm.Terminal({ cols, rows, scrollback, allowProposedApi: true });
    this.#terminal.loadAddon(this.#serialize as unknown as xterm.ITerminalAddon);
    this.#terminal.loadAddon(new unicode11.Unicode11Addon() as unknown as xterm.ITerminalAddon);
    this.#terminal.unicode.activeVersion = "11";
    this.#terminal.onData(answer);
    this.#beginPiece = boundParser(this.#terminal);
    this.#closed.promise.catch(() => undefined);
    this.#untold = new Untold(this.#terminal);
  }

  /** The ring has more. */
  noteOutput(): void {
    this.#feeding ??= this.#feed().finally(() => {
      this.#feeding = undefined;
    });
  }

  resize(cols: number, rows: number): void {
    this.#terminal.resize(cols, rows);
  }

  /** Sequences that draw the screen and its scrollback, and the byte that follows them. */
  async snapshot(): Promise<{ readonly text: string; readonly at: number }> {
    await this.#catchUp();
    return { text: this.#serialized(), at: this.#at };
  }

  /** The visible screen as text. */
  async read(): Promise<Omit<TerminalScreen, "title">> {
    await this.#catchUp();
    const { active } = this.#terminal.buffer;
    return {
      at: this.#at,
      text: this.#lines().join("\n").trimEnd(),
      cursor: { column: active.cursorX, row: active.cursorY },
      alternate: active.type === "alternate",
      bracketedPaste: this.#terminal.modes.bracketedPasteMode,
      applicationKeys: this.#terminal.modes.applicationCursorKeysMode,
    };
  }

  close(): void {
    this.#terminal.dispose();
    this.#closed.reject(new Refusal("NOT_FOUND", "The terminal was closed"));
  }

  /** A screen that is too large for that comes without colours, scrollback and most modes. */
  #serialized(): string {
    const { cols, rows, buffer } = this.#terminal;
    const screens = buffer.active.type === "alternate" ? 2 : 1;
    for (const cells of SNAPSHOT_CELLS) {
      const above = Math.floor(cells / cols) - rows * screens;
      if (above < 0) break;
      const scrollback = Math.min(TERMINAL_LIMITS.scrollback, above);
      const text = this.#serialize.serialize({ scrollback }) + this.#untold.tell();
      if (fitsMessage(text)) return text;
    }
    const { cursorX, cursorY } = buffer.active;
    const cursor = `\u001b[${cursorY + 1};${cursorX + 1}H`;
    // A character may have marks without end.
    const lines = this.#lines().map((line) => line.slice(0, MOST_IN_LINE));
    return `${screens === 2 ? "\u001b[?1049h\u001b[H" : ""}${lines.join("\r\n")}${cursor}${this.#untold.modes()}`;
  }

  #lines(): string[] {
    const { active } = this.#terminal.buffer;
    return Array.from(
      { length: this.#terminal.rows },
      (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? "",
    );
  }

  async #catchUp(): Promise<void> {
    const wanted = this.#ring.end;
    if (this.#hurry++ === 0) this.#patience = performance.now() + MOST_WAIT_MS;
    try {
      while (this.#at < wanted) {
        this.noteOutput();
        // A parser that was disposed of never ends.
        await Promise.race([this.#feeding, this.#closed.promise]);
      }
    } finally {
      if (--this.#hurry === 0) this.#patience = Number.POSITIVE_INFINITY;
    }
  }

  async #feed(): Promise<void> {
    while (this.#at < this.#ring.end) {
      if (this.#ring.end - this.#at > MOST_BEHIND) {
        await this.#write(CANCEL);
        this.#at = this.#ring.end - KEPT_BEHIND;
      }
      if (performance.now() > this.#patience) {
        await this.#write(CANCEL);
        this.#at = this.#ring.end;
        return;
      }
      const piece = this.#ring.read(this.#at, FEED_BYTES);
      this.#beginPiece();
      await this.#write(piece);
      this.#at += piece.length;
      await this.#endLongSequence(piece);
      if (this.#hurry === 0 && piece.length === FEED_BYTES) await sleep(FEED_PAUSE_MS);
    }
  }

  /** Text that has no sequences for so long is not changed by it. */
  async #endLongSequence(piece: Buffer): Promise<void> {
    const ends = ENDS_SEQUENCE.map((byte) => piece.lastIndexOf(byte));
    const last = Math.max(...ends);
    this.#inSequence = last < 0 ? this.#inSequence + piece.length : piece.length - last - 1;
    if (this.#inSequence < LONGEST_SEQUENCE) return;
    await this.#write(CANCEL);
    this.#inSequence = 0;
  }

  #write(data: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => this.#terminal.write(data, resolve));
  }
}
