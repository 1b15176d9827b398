/** How many results fit into an answer. */

/** Bytes or characters of paths in one answer. */
export const MOST_CHARS = 2 * 1024 * 1024;

/** Characters of results in an answer, if the caller did not say how many are wanted. */
export const USUAL_CHARS = 25_000;

/** As many of the first entries as fit. */
export function fitting<Entry extends { readonly path: Buffer }>(
  entries: readonly Entry[],
): readonly Entry[] {
  return firstOf(entries, MOST_CHARS, ({ path }) => path.length);
}

/** As many of the first entries as fit into `most` together. */
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
