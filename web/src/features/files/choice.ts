/** Which entries of a list are chosen, by their names, and how clicks and keys change that. */
import { type Entry, isNamed } from "./entries.ts";

export interface Choice {
  readonly names: ReadonlySet<string>;
  /** Where a range begins: what was chosen last by itself. */
  readonly anchor: string | undefined;
}

export const NONE_CHOSEN: Choice = { names: new Set(), anchor: undefined };

/** With this entry, or without it. */
export function toggled({ names }: Choice, { name }: Entry): Choice {
  const next = new Set(names);
  if (!next.delete(name)) next.add(name);
  return { names: next, anchor: name };
}

/** All from where the range begins to there, and no others. `from`: where it begins if nothing was chosen before. */
export function ranged({ anchor }: Choice, entries: readonly Entry[], from: number, to: number): Choice {
  const found = anchor === undefined ? -1 : entries.findIndex(({ name }) => name === anchor);
  const first = found >= 0 ? found : from;
  const between = entries.slice(Math.min(first, to), Math.max(first, to) + 1);
  return { names: namesOf(between), anchor: entries[first]?.name };
}

export function allOf(entries: readonly Entry[]): Choice {
  return { names: namesOf(entries), anchor: undefined };
}

/** Of the entries that are in the list now: what is gone, or filtered out, is not acted on. */
export function chosenOf(entries: readonly Entry[], { names }: Choice): readonly Entry[] {
  return names.size === 0 ? [] : entries.filter((entry) => names.has(entry.name) && isNamed(entry));
}

/** Without those that have left the folder: what comes back later is not chosen. */
export function keptOf(choice: Choice, entries: readonly Entry[]): Choice {
  if (choice.names.size === 0) return choice;
  const names = namesOf(entries);
  return { ...choice, names: new Set([...choice.names].filter((name) => names.has(name))) };
}

function namesOf(entries: readonly Entry[]): ReadonlySet<string> {
  return new Set(entries.filter(isNamed).map(({ name }) => name));
}
