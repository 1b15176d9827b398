/** How much of what was found an answer has room for. */

/** Bytes or characters of paths in one answer. */
export const MOST_CHARS = 2 * 1024 * 1024;

/** Characters of what was found in an answer to a caller who did not say how much is wanted. */
export const USUAL_CHARS = 25_000;

/** As many of the first entries as fit. */
export function fitting<Entry extends { readonly path: Buffer }>(
  entries: readonly Entry[],
): readonly Entry[] {
  return firstOf(entries, MOST_CHARS, ({ path }) => path.length);
}

/** As many of the first entries as are not larger together than `most`. */
export function firstOf<Entry>(
  entries: readonly Entry[],
  most: number,
  sizeOf: (entry: Entry) => number,
): readonly Entry[] {
  let size = 0;
  const end = entries.findIndex((entry) => {
    size += sizeOf(entry);
    return size > most;
  });
  return end < 0 ? entries : entries.slice(0, end);
}
