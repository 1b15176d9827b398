/**
 * What the library's snapshot of a screen leaves out: scroll region, origin mode, character sets, tab stops, saved cursor,
 * the cursor's shape, colours of empty rows, and some modes.
 */
import type xterm from "@xterm/headless";

const ESC = "\u001b";
/** Modes, and how each is in a new terminal: cursor shown, how the mouse is reported, and output that is shown at once. */
const MODES: ReadonlyMap<number, "h" | "l"> = new Map([
  [25, "h"],
  [1006, "l"],
  [1015, "l"],
  [1016, "l"],
  [2026, "l"],
]);
/** Sets of characters by their names; all others than those of DEC's lines are for a few languages of old printers. */
const SETS = [..."0A4C5RQKYE6ZH7="];
/** What names the set of each place, and what takes characters from there. */
const PLACES = [..."()*+"];
const SHIFTS = ["\u000f", "\u000e", `${ESC}n`, `${ESC}o`];
const SHAPES = ["block", "underline", "bar"] as const;
const TAB_COLUMNS = 8;

/** Of a cell, of the cursor, or of the saved one. */
type Attributes = Pick<
  xterm.IBufferCell,
  | "getFgColor"
  | "getBgColor"
  | "isFgRGB"
  | "isBgRGB"
  | "isFgPalette"
  | "isBgPalette"
  | "isBold"
  | "isDim"
  | "isItalic"
  | "isUnderline"
  | "isBlink"
  | "isInverse"
  | "isInvisible"
  | "isStrikethrough"
  | "isOverline"
>;

type CharacterSet = object | undefined;

/** What is not in the library's types. */
interface Core {
  readonly buffer: {
    readonly ybase: number;
    readonly scrollTop: number;
    readonly scrollBottom: number;
    readonly tabs: Readonly<Record<number, boolean>>;
    readonly savedX: number;
    readonly savedY: number;
    readonly savedCurAttrData: Attributes;
    readonly savedCharset: CharacterSet;
  };
  readonly coreService: {
    readonly decPrivateModes: {
      readonly cursorStyle: (typeof SHAPES)[number] | undefined;
      readonly cursorBlink: boolean | undefined;
    };
  };
  readonly _charsetService: {
    readonly glevel: number;
    readonly charset: CharacterSet;
    readonly _charsets: readonly CharacterSet[];
    reset(): void;
  };
  readonly _inputHandler: { readonly _curAttrData: Attributes; selectCharset(placeAndName: string): void };
}

export class Untold {
  readonly #terminal: xterm.Terminal;
  readonly #core: Core;
  readonly #changedModes = new Set<number>();
  readonly #namesOfSets = new Map<CharacterSet, string>();

  /** Of a new terminal. */
  constructor(terminal: xterm.Terminal) {
    this.#terminal = terminal;
    this.#core = (terminal as unknown as { readonly _core: Core })._core;
    this.#watchModes();
    const { _inputHandler: input, _charsetService: sets } = this.#core;
    for (const name of SETS) {
      input.selectCharset(`(${name}`);
      this.#namesOfSets.set(sets._charsets[0], name);
    }
    sets.reset();
    this.#namesOfSets.set(undefined, "B");
  }

  /** Sequences that follow the library's snapshot. */
  tell(): string {
    const { originMode } = this.#terminal.modes;
    const before = [this.#emptyRows(), this.#tabStops(), this.#savedCursor(), this.#region()].join("");
    const moved = before !== "" || originMode;
    const cursor = moved ? this.#cursor() + attributesOf(this.#core._inputHandler._curAttrData) : "";
    // In origin mode, rows are counted from the region; the library has told it already, and the cursor was lost with that.
    const lines = moved ? `${ESC}[?6l${before}${originMode ? `${ESC}[?6h` : ""}${cursor}` : "";
    return lines + this.modes();
  }

  /** The same without what depends on the screen's rows. */
  modes(): string {
    return this.#sets() + this.#shape() + this.#changed();
  }

  #watchModes(): void {
    for (const final of ["h", "l"] as const) {
      this.#terminal.parser.registerCsiHandler({ prefix: "?", final }, (params) => {
        for (const [mode, initial] of MODES) {
          if (!params.includes(mode)) continue;
          if (final === initial) this.#changedModes.delete(mode);
          else this.#changedModes.add(mode);
        }
        return false;
      });
    }
    this.#terminal.parser.registerEscHandler({ final: "c" }, () => {
      this.#changedModes.clear();
      return false;
    });
  }

  #changed(): string {
    const modes = [...this.#changedModes].map(
      (mode) => `${ESC}[?${mode}${MODES.get(mode) === "h" ? "l" : "h"}`,
    );
    // The library's sequence for it is known to fewer terminals.
    if (this.#terminal.modes.applicationKeypadMode) modes.unshift(`${ESC}=`);
    return modes.join("");
  }

  /** The library stops at the last row with characters. */
  #emptyRows(): string {
    const { rows, cols, buffer } = this.#terminal;
    const cell = buffer.active.getNullCell();
    let told = "";
    for (let row = 0; row < rows; row++) {
      const line = buffer.active.getLine(buffer.active.baseY + row);
      if (line?.translateToString(true) !== "") continue;
      for (let column = 0, from = 0, colour = ""; column <= cols; column++) {
        const own = column < cols && line.getCell(column, cell) ? backgroundOf(cell) : undefined;
        if (own === colour) continue;
        if (colour !== "") told += `${place(row, from)}${ESC}[0;${colour}m${ESC}[${column - from}X`;
        from = column;
        colour = own ?? "";
      }
    }
    return told === "" ? "" : `${told}${ESC}[0m`;
  }

  #tabStops(): string {
    const { cols } = this.#terminal;
    const { tabs } = this.#core.buffer;
    const columns = Array.from({ length: cols }, (_, column) => column);
    if (columns.every((column) => (tabs[column] ?? false) === (column % TAB_COLUMNS === 0))) return "";
    const stops = columns.filter((column) => tabs[column]);
    return `${ESC}[3g${stops.map((column) => `${place(0, column)}${ESC}H`).join("")}`;
  }

  #savedCursor(): string {
    const { savedX, savedY, ybase, savedCurAttrData, savedCharset } = this.#core.buffer;
    const row = Math.max(savedY - ybase, 0);
    const attributes = attributesOf(savedCurAttrData);
    const name = this.#namesOfSets.get(savedCharset) ?? "B";
    if (row === 0 && savedX === 0 && attributes === PLAIN && name === "B") return "";
    const saved = `${place(row, savedX)}${attributes}${ESC}(${name}${ESC}7`;
    return name === "B" ? saved : `${saved}${ESC}(B`;
  }

  #region(): string {
    const { scrollTop, scrollBottom } = this.#core.buffer;
    const { rows } = this.#terminal;
    const isWhole = scrollTop === 0 && scrollBottom === rows - 1;
    return isWhole ? "" : `${ESC}[${scrollTop + 1};${scrollBottom + 1}r`;
  }

  /** Behind the last column it comes only by a character that is written there. */
  #cursor(): string {
    const { cols, modes, buffer } = this.#terminal;
    const { cursorX, cursorY, baseY } = buffer.active;
    const row = cursorY - (modes.originMode ? this.#core.buffer.scrollTop : 0);
    if (cursorX < cols) return place(row, cursorX);
    const line = buffer.active.getLine(baseY + cursorY);
    const last = line?.getCell(cols - 1);
    const column = last?.getWidth() === 0 ? cols - 2 : cols - 1;
    const cell = line?.getCell(column);
    return cell
      ? `${place(row, column)}${attributesOf(cell)}${cell.getChars() || " "}`
      : place(row, cols - 1);
  }

  #sets(): string {
    const { glevel, _charsets: sets } = this.#core._charsetService;
    const named = PLACES.map((at, level) => {
      const name = this.#namesOfSets.get(sets[level]) ?? "B";
      return name === "B" ? "" : `${ESC}${at}${name}`;
    });
    return named.join("") + (glevel === 0 ? "" : (SHIFTS[glevel] ?? ""));
  }

  #shape(): string {
    const { cursorStyle, cursorBlink } = this.#core.coreService.decPrivateModes;
    if (cursorStyle === undefined) return "";
    return `${ESC}[${SHAPES.indexOf(cursorStyle) * 2 + (cursorBlink ? 1 : 2)} q`;
  }
}

function place(row: number, column: number): string {
  return `${ESC}[${row + 1};${column + 1}H`;
}

function backgroundOf(cell: Attributes): string {
  return colour(cell.getBgColor(), { isRgb: cell.isBgRGB(), isPalette: cell.isBgPalette(), base: 40 });
}

const PLAIN = `${ESC}[0m`;

function attributesOf(of: Attributes): string {
  const flags = [
    of.isBold() && 1,
    of.isDim() && 2,
    of.isItalic() && 3,
    of.isUnderline() && 4,
    of.isBlink() && 5,
    of.isInverse() && 7,
    of.isInvisible() && 8,
    of.isStrikethrough() && 9,
    of.isOverline() && 53,
  ].filter(Boolean);
  const front = colour(of.getFgColor(), { isRgb: of.isFgRGB(), isPalette: of.isFgPalette(), base: 30 });
  return `${ESC}[${[0, ...flags, front, backgroundOf(of)].filter((part) => part !== "").join(";")}m`;
}

/** Empty: the usual one. */
function colour(
  value: number,
  { isRgb, isPalette, base }: { readonly isRgb: boolean; readonly isPalette: boolean; readonly base: number },
): string {
  if (isRgb) return `${base + 8};2;${(value >>> 16) & 255};${(value >>> 8) & 255};${value & 255}`;
  if (!isPalette) return "";
  if (value >= 16) return `${base + 8};5;${value}`;
  return `${value & 8 ? base + 60 + (value & 7) : base + value}`;
}
