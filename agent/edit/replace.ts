/** Replaces texts in a file's text. All are searched for in the original text; everything else stays as it is. */
import { characterStarts, type UnitText, unitsFor } from "./code-units.ts";
import {
  noChangeError,
  notInEncoding,
  notUnique,
  overlapError,
  type Subject,
  tooManyError,
  wrongCount,
} from "./errors.ts";
import { fittingEnds, placesInOriginal, withPlainEnds } from "./line-ends.ts";
import { noMatchError } from "./no-match.ts";

export interface Replacement {
  /** What the caller calls it: `old_string`, or `edits[2].old_string`. */
  readonly name: string;
  readonly old: string;
  readonly new: string;
  /** Replace every occurrence, from the left, without overlap. */
  readonly all: boolean;
  /** How many occurrences there must be. More than one means all of them, provided that none overlap. */
  readonly expected: number | undefined;
}

export interface Edited {
  readonly units: string;
  /** Ascending. */
  readonly cuts: readonly Cut[];
}

export interface Cut {
  readonly from: number;
  readonly to: number;
  readonly units: string;
  /** Index of the replacement that it belongs to. */
  readonly by: number;
}

/** Limit on occurrences of all texts together. */
const MOST_CUTS = 100_000;

/** Throws MatrxError if a text is not found or not unique, or if nothing would change. */
export function replaceIn(text: UnitText, replacements: readonly Replacement[], subject: Subject): Edited {
  const plain = withPlainEnds(text.units);
  const cuts: Cut[] = [];
  for (const [by, replacement] of replacements.entries()) {
    for (const cut of cutsOf(text, plain, replacement, by, subject)) cuts.push(cut);
    if (cuts.length > MOST_CUTS) throw tooManyError(MOST_CUTS, subject);
  }
  cuts.sort((a, b) => a.from - b.from);
  const clash = cuts.findIndex((cut, index) => cut.from < (cuts[index - 1]?.to ?? 0));
  if (clash !== -1) throw overlapError(namesOf(cuts.slice(clash - 1, clash + 1), replacements), subject);
  const units = joined(text.units, cuts);
  if (units === text.units) throw noChangeError(subject);
  return { units, cuts };
}

function namesOf(cuts: readonly Cut[], replacements: readonly Replacement[]): string[] {
  return cuts.map(({ by }) => replacements[by]?.name ?? "");
}

function cutsOf(
  text: UnitText,
  plain: string,
  replacement: Replacement,
  by: number,
  subject: Subject,
): Cut[] {
  const old = withPlainEnds(replacement.old);
  const wanted = unitsFor(old, text.encoding);
  const units = unitsFor(replacement.new, text.encoding);
  if (units === undefined)
    throw notInEncoding(text.encoding, newNameOf(replacement), replacement.new, subject);
  const places = wanted === undefined ? [] : placesOf(text, plain, wanted, subject);
  if (wanted === undefined || places.length === 0) throw noMatchError(text, replacement, subject);
  const chosen = chooseFrom(places, wanted.length, plain, replacement, subject);
  const ends = chosen.flatMap((place) => [place, place + wanted.length]);
  const original = placesInOriginal(text.units, ends);
  const fit = fittingEnds(text.units);
  return chosen.map((_, index) => {
    const from = original[2 * index] ?? 0;
    const to = original[2 * index + 1] ?? 0;
    return { from, to, units: fit(from, to, units), by };
  });
}

/** All occurrences in the text with plain line ends; they may overlap. */
function placesOf(text: UnitText, plain: string, wanted: string, subject: Subject): number[] {
  const starts = characterStarts({ ...text, units: plain });
  const places: number[] = [];
  for (const place of occurrencesOf(wanted, plain)) {
    if (!starts(place)) continue;
    if (places.length === MOST_CUTS) throw tooManyError(MOST_CUTS, subject);
    places.push(place);
  }
  return places;
}

/** The occurrences to replace: the only one, or, if requested, all from the left. */
function chooseFrom(
  places: readonly number[],
  length: number,
  plain: string,
  { name, all, expected }: Replacement,
  subject: Subject,
): readonly number[] {
  const apart = withoutOverlap(places, length);
  const onlyOne = !all && (expected ?? 1) === 1;
  // Of two that overlap, only `replace_all` says which one is meant: the left one.
  const isUnclear = !all && apart.length < places.length;
  if (isUnclear || (onlyOne && places.length > 1))
    throw notUnique({ plain, name, places }, isUnclear, subject);
  if (expected !== undefined && expected !== apart.length) {
    throw wrongCount({ plain, name, places: apart }, expected, subject);
  }
  return apart;
}

function withoutOverlap(places: readonly number[], length: number): number[] {
  const apart: number[] = [];
  let end = 0;
  for (const place of places) {
    if (place < end) continue;
    apart.push(place);
    end = place + length;
  }
  return apart;
}

/** The units with ascending cuts made. */
export function joined(units: string, cuts: readonly Cut[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const cut of cuts) {
    pieces.push(units.slice(at, cut.from), cut.units);
    at = cut.to;
  }
  return pieces.join("") + units.slice(at);
}

function newNameOf({ name }: Replacement): string {
  return name.replace("old_string", "new_string");
}

/** Positions of `wanted`, which is not empty, ascending. */
export function* occurrencesOf(wanted: string, text: string): Generator<number, void> {
  const first = text.indexOf(wanted);
  if (first === -1) return;
  yield first;
  const second = text.indexOf(wanted, first + 1);
  if (second === -1) return;
  yield* search(wanted, text, second);
}

/** A text as units, or as lines. */
interface Sequence<Item> {
  readonly length: number;
  at(index: number): Item | undefined;
}

/** Knuth-Morris-Pratt search: positions of `wanted`, which is not empty, at or after `from`, ascending. */
export function* search<Item>(
  wanted: Sequence<Item>,
  all: Sequence<Item>,
  from: number,
): Generator<number, void> {
  const borders = bordersOf(wanted);
  let matched = 0;
  for (let at = from; at < all.length; at++) {
    const item = all.at(at);
    while (matched > 0 && wanted.at(matched) !== item) matched = borders[matched - 1] ?? 0;
    if (wanted.at(matched) === item) matched++;
    if (matched < wanted.length) continue;
    yield at - matched + 1;
    matched = borders[matched - 1] ?? 0;
  }
}

/** For each prefix, the length of its longest proper prefix that is also a suffix. */
function bordersOf<Item>(all: Sequence<Item>): Uint32Array {
  const borders = new Uint32Array(all.length);
  let length = 0;
  for (let at = 1; at < all.length; at++) {
    const item = all.at(at);
    while (length > 0 && all.at(length) !== item) length = borders[length - 1] ?? 0;
    if (all.at(length) === item) length++;
    borders[at] = length;
  }
  return borders;
}
