/** How many paths an answer has room for. */

/** Bytes of paths in one answer. */
const MOST_BYTES = 2 * 1024 * 1024;

/** As many of the first entries as fit. */
export function fitting<Entry extends { readonly path: Buffer }>(
  entries: readonly Entry[],
): readonly Entry[] {
  let bytes = 0;
  const end = entries.findIndex(({ path }) => {
    bytes += path.length;
    return bytes > MOST_BYTES;
  });
  return end < 0 ? entries : entries.slice(0, end);
}
