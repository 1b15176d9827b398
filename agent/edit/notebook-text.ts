/** A notebook as `Read` shows it: the text of its cells can be changed there, and nothing else. */
import { isUtf8 } from "node:buffer";
import { BETWEEN_BLOCKS, notebookOf } from "../read/notebook.ts";
import { shownText, type UnitText } from "./code-units.ts";
import { refused, type Subject } from "./errors.ts";
import { withSources } from "./notebook-json.ts";
import { type Cut, joined } from "./replace.ts";

/** Stands for what can't be changed, and so must not be found: no byte of UTF-8. */
const HIDDEN = "\xff";

/** Where a cell's text is, from the end of the line above it: that line's end belongs to it. */
interface Part {
  readonly cell: number;
  readonly from: number;
  readonly to: number;
  /** A line end at its end that is not shown. */
  readonly tail: string;
}

export class NotebookText {
  /** What `Read` shows. */
  readonly shown: UnitText;
  /** The same with all outputs hidden, place for place. */
  readonly searched: UnitText;
  readonly #json: string;
  readonly #parts: readonly Part[];

  private constructor(json: string, shown: string, searched: string, parts: readonly Part[]) {
    const form = { encoding: "utf-8", mark: NONE, rest: NONE } as const;
    this.shown = { ...form, units: shown };
    this.searched = { ...form, units: searched };
    this.#json = json;
    this.#parts = parts;
  }

  /** Undefined if it is not a notebook of a known format. */
  static of(bytes: Buffer): NotebookText | undefined {
    const notebook = isUtf8(bytes) ? notebookOf(bytes) : undefined;
    if (!notebook) return undefined;
    const parts: Part[] = [];
    let shown = "";
    let searched = "";
    for (const { head, content, cell, source = "" } of notebook.blocks) {
      if (shown !== "") {
        shown += BETWEEN_BLOCKS;
        searched += BETWEEN_BLOCKS;
      }
      const above = unitsOf(head);
      const below = content === undefined ? "" : unitsOf(`\n${content}`);
      const isOpen = cell !== undefined && source.isWellFormed();
      const from = shown.length + above.length;
      shown += above + below;
      searched += isOpen ? above + below : (above + below).replace(/[^\r\n]/g, HIDDEN);
      if (isOpen) parts.push({ cell, from, to: shown.length, tail: source.endsWith("\n") ? "\n" : "" });
    }
    return new NotebookText(bytes.toString("utf8"), shown, searched, parts);
  }

  /** Whether what is shown has a text, though no cell's text has it. */
  hasHidden(text: string): boolean {
    return this.shown.units.includes(unitsOf(text)) && !this.searched.units.includes(unitsOf(text));
  }

  /** The notebook's bytes with ascending cuts of `searched`. Throws MatrxError if they change more than cells' texts. */
  bytesWith(cuts: readonly Cut[], subject: Subject): Buffer {
    const byPart = new Map<Part, Cut[]>();
    for (const cut of cuts) {
      const { part, own } = this.#placed(cut, subject);
      byPart.set(part, [...(byPart.get(part) ?? []), own]);
    }
    const texts = new Map<number, string>();
    for (const [part, own] of byPart) texts.set(part.cell, this.#textOf(part, own, subject));
    const mark = this.#json.startsWith("\ufeff") ? "\ufeff" : "";
    return Buffer.from(mark + withSources(this.#json.slice(mark.length), texts));
  }

  #textOf({ from, to, tail }: Part, cuts: readonly Cut[], subject: Subject): string {
    const units = joined(this.shown.units.slice(from, to), cuts);
    const text = shownText(units, "utf-8");
    if (text === "") return "";
    if (!text.startsWith("\n")) throw notInCells(subject);
    return text.slice(1) + tail;
  }

  /** The part in which a cut changes something, with the cut as it is there. */
  #placed(cut: Cut, subject: Subject): { part: Part; own: Cut } {
    const { units } = this.shown;
    let { from, to, units: added } = withoutSame(cut, units);
    for (;;) {
      const part = this.#parts.find((one) => one.from <= from && to <= one.to);
      if (part) return { part, own: { ...cut, from: from - part.from, to: to - part.from, units: added } };
      // Taking out the lines "b\n" of "a\nb\n" is taking out "\nb".
      const last = to > from ? units[to - 1] : added.at(-1);
      const isAlike = from > 0 && units[from - 1] === last && (to === from || added === "");
      if (!isAlike || last === undefined) throw notInCells(subject);
      if (to === from) added = last + added.slice(0, -1);
      from--;
      to--;
    }
  }
}

const NONE = Buffer.alloc(0);

function unitsOf(text: string): string {
  return Buffer.from(text).toString("latin1");
}

/** A cut without what stays the same at its ends. */
function withoutSame({ from, to, units }: Cut, all: string): Pick<Cut, "from" | "to" | "units"> {
  const old = all.slice(from, to);
  const most = Math.min(old.length, units.length);
  let before = 0;
  while (before < most && old[before] === units[before]) before++;
  let after = 0;
  while (after < most - before && old.at(-1 - after) === units.at(-1 - after)) after++;
  return { from: from + before, to: to - after, units: units.slice(before, units.length - after) };
}

function notInCells(subject: Subject) {
  return refused(
    subject,
    "not_in_cells",
    `This would change more of ${subject.shown} than the text of its cells. Nothing was changed`,
    "Change each cell by itself, and leave the lines in brackets as they are; for cells and outputs as a whole, edit the JSON, as shown with raw=true",
  );
}
