/** The size of a terminal in one window: what fits there, and who gave the terminal the size that it has. */
import type { Size } from "./messages.ts";
import type { Emulator } from "./xterm.ts";

interface ViewSizeOptions {
  readonly emulator: Emulator;
  readonly host: HTMLElement;
  /** The terminal takes a size from here now. */
  readonly mayTell: () => boolean;
  readonly tell: (size: Size) => void;
  /** `isForeign`: another window gave it. */
  readonly onChange: (size: Size, isForeign: boolean) => void;
}

/** The machine is told a new size once it stays so long, in milliseconds. */
const SIZE_AFTER = 80;
const MOST_CELLS = 1000;

export class ViewSize {
  readonly #options: ViewSizeOptions;
  /** What fits here. */
  #wanted: Size | undefined;
  /** What the terminal was given from here. */
  #told: Size | undefined;
  #isForeign = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor(options: ViewSizeOptions) {
    this.#options = options;
  }

  get isForeign(): boolean {
    return this.#isForeign;
  }

  get wasTold(): boolean {
    return this.#told !== undefined;
  }

  /** Measures what fits, and gives it to the terminal unless another window's size holds. */
  fit(): void {
    const { emulator, host } = this.#options;
    if (this.#isOver || !emulator.terminal.element || host.offsetHeight === 0) return;
    const { cols, rows } = emulator.fit.proposeDimensions() ?? {};
    if (!cols || !rows) return;
    this.#wanted = { cols: Math.min(cols, MOST_CELLS), rows: Math.min(rows, MOST_CELLS) };
    // Whoever uses this window takes it, or two windows would take it from each other for ever.
    if (this.#isForeign) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.tell(), SIZE_AFTER);
  }

  /** Gives the terminal the size that fits here. */
  tell(): void {
    const { emulator, mayTell, tell } = this.#options;
    const wanted = this.#wanted;
    if (this.#isOver || !wanted || !mayTell()) return;
    this.#told = wanted;
    if (isSame(wanted, emulator.terminal)) return;
    emulator.terminal.resize(wanted.cols, wanted.rows);
    tell(wanted);
    this.#change(wanted, false);
  }

  /** Somebody gave the terminal this one. */
  resized(size: Size): void {
    if (this.#isOver) return;
    this.#options.emulator.terminal.resize(size.cols, size.rows);
    this.#change(size, !isSame(this.#told, size) && !isSame(this.#wanted, size));
  }

  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #change(size: Size, isForeign: boolean): void {
    this.#isForeign = isForeign;
    this.#options.onChange(size, isForeign);
  }
}

function isSame(one: Size | undefined, { cols, rows }: Size): boolean {
  return one?.cols === cols && one.rows === rows;
}
