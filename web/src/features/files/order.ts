/** In which order a folder's entries stand, and which of them. */
import { type Entry, isFolder } from "./entries.ts";

export const COLUMNS = ["name", "size", "changed"] as const;
export type Column = (typeof COLUMNS)[number];

export interface Order {
  readonly by: Column;
  readonly isDown: boolean;
}

const NAMES = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

const COMPARE: Readonly<Record<Column, (a: Entry, b: Entry) => number>> = {
  name: () => 0,
  size: (a, b) => (a.size ?? -1) - (b.size ?? -1),
  changed: (a, b) => (a.mtime ?? "").localeCompare(b.mtime ?? ""),
};

/** Folders first, as people look for them. */
export function sorted(entries: readonly Entry[], { by, isDown }: Order): readonly Entry[] {
  const sign = isDown ? -1 : 1;
  const compare = COMPARE[by];
  return entries.toSorted((a, b) => {
    const kinds = Number(isFolder(b)) - Number(isFolder(a));
    return kinds || sign * (compare(a, b) || NAMES.compare(a.name, b.name));
  });
}

/** Those whose names contain the text, in any case. */
export function filtered(entries: readonly Entry[], text: string): readonly Entry[] {
  const wanted = text.trim().toLowerCase();
  return wanted === "" ? entries : entries.filter(({ name }) => name.toLowerCase().includes(wanted));
}
