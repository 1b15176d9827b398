/**
 * What a terminal's screen shows. The parser is far slower than a program that floods its terminal: it is fed a little at
 * a time, and leaves out what it cannot keep up with.
 */
import { setTimeout as sleep } from "node:timers/promises";
import serialize from "@xterm/addon-serialize";
import xterm from "@xterm/headless";
import { TERMINAL_LIMITS, type TerminalScreen } from "../protocol.ts";
import type { Ring } from "./ring.ts";

/** Bytes for the parser at a time, and the pause between them in milliseconds: about 1 MB a second. */
const FEED_BYTES = 16 * 1024;
const FEED_PAUSE_MS = 12;
/** Further behind than this it leaves out all but the last part, in bytes. */
const MOST_BEHIND = 256 * 1024;
const KEPT_BEHIND = 64 * 1024;
/** Ends a sequence that was cut off. */
const CANCEL = "\u0018";

export class Screen {
  readonly #terminal: xterm.Terminal;
  readonly #serialize = new serialize.SerializeAddon();
  readonly #ring: Ring;
  /** The next byte to be drawn. */
  #at = 0;
  #feeding: Promise<void> | undefined;
  /** Somebody waits for the screen. */
  #hurry = 0;
  #isCursorHidden = false;

  /** `answer` gets what programs asked the terminal for. */
  constructor(ring: Ring, { cols, rows }: { cols: number; rows: number }, answer: (text: string) => void) {
    this.#ring = ring;
    const scrollback = TERMINAL_LIMITS.scrollback;
    this.#terminal = new xterm.Terminal({ cols, rows, scrollback, allowProposedApi: true });
    this.#terminal.loadAddon(this.#serialize as unknown as xterm.ITerminalAddon);
    this.#terminal.onData(answer);
    // The addon does not tell whether the cursor is shown.
    const watch = (final: "h" | "l") =>
      this.#terminal.parser.registerCsiHandler({ prefix: "?", final }, (params) => {
        if (params.includes(25)) this.#isCursorHidden = final === "l";
        return false;
      });
    watch("h");
    watch("l");
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
    const text = this.#serialize.serialize({ scrollback: TERMINAL_LIMITS.scrollback });
    return { text: this.#isCursorHidden ? `${text}\u001b[?25l` : text, at: this.#at };
  }

  /** The visible screen as text. */
  async read(): Promise<Omit<TerminalScreen, "title">> {
    await this.#catchUp();
    const { active } = this.#terminal.buffer;
    const lines = Array.from(
      { length: this.#terminal.rows },
      (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? "",
    );
    return {
      at: this.#at,
      text: lines.join("\n").trimEnd(),
      cursor: { column: active.cursorX, row: active.cursorY },
      alternate: active.type === "alternate",
      bracketedPaste: this.#terminal.modes.bracketedPasteMode,
    };
  }

  close(): void {
    this.#terminal.dispose();
  }

  async #catchUp(): Promise<void> {
    this.#hurry++;
    const wanted = this.#ring.end;
    while (this.#at < wanted) {
      this.noteOutput();
      await this.#feeding;
    }
    this.#hurry--;
  }

  async #feed(): Promise<void> {
    while (this.#at < this.#ring.end) {
      if (this.#ring.end - this.#at > MOST_BEHIND) {
        await this.#write(CANCEL);
        this.#at = this.#ring.end - KEPT_BEHIND;
      }
      const piece = this.#ring.read(this.#at, FEED_BYTES);
      await this.#write(piece);
      this.#at += piece.length;
      if (this.#hurry === 0 && piece.length === FEED_BYTES) await sleep(FEED_PAUSE_MS);
    }
  }

  #write(data: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => this.#terminal.write(data, resolve));
  }
}
