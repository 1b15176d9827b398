/** Machines in a sentence. */

/** More than this many are counted, not named. */
const NAMED = 6;

/** "attic, cellar and garage"; of many the first few, and how many more there are. */
export function names(all: readonly string[]): string {
  const shown = all.length > NAMED ? all.slice(0, NAMED - 1) : all;
  const rest = all.length - shown.length;
  const parts = rest > 0 ? [...shown, `${rest} more`] : shown;
  const last = parts.at(-1) ?? "";
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(", ")} and ${last}`;
}
