/** Finds a text in another, also where occurrences overlap, in time that grows with both lengths and not their product. */

/** Places of `wanted`, which is not empty, ascending. */
export function* occurrencesOf(wanted: string, text: string): Generator<number, void> {
  const first = text.indexOf(wanted);
  if (first === -1) return;
  yield first;
  const second = text.indexOf(wanted, first + 1);
  if (second === -1) return;
  yield* search(wanted, text, second);
}

/** A text's units, or lines. */
interface Sequence<Item> {
  readonly length: number;
  at(index: number): Item | undefined;
}

/** Knuth, Morris, Pratt: places of `wanted`, which is not empty, from a place on, ascending. */
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

/** For each beginning, the length of its longest beginning that is also its end. */
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
