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

/** Knuth, Morris, Pratt. */
function* search(wanted: string, text: string, from: number): Generator<number, void> {
  const borders = bordersOf(wanted);
  let matched = 0;
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && wanted.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
    if (wanted.charCodeAt(matched) === unit) matched++;
    if (matched < wanted.length) continue;
    yield at - matched + 1;
    matched = borders[matched - 1] ?? 0;
  }
}

/** For each beginning of a text, the length of its longest beginning that is also its end. */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length);
  let length = 0;
  for (let at = 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    while (length > 0 && text.charCodeAt(length) !== unit) length = borders[length - 1] ?? 0;
    if (text.charCodeAt(length) === unit) length++;
    borders[at] = length;
  }
  return borders;
}
