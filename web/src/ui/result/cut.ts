/** How much of a long text is on the page: browsers become slow with millions of characters. */

/** Shown at first, and added at a time, in characters. */
export const FIRST = 100_000;
export const MORE = 1_000_000;
/** Of one block, which the browser lays out only when it is seen, in characters. */
const BLOCK = 50_000;

/** The beginning of a text, to the end of a line if one is near. */
export function beginning(text: string, length: number): string {
  if (text.length <= length) return text;
  const line = text.lastIndexOf("\n", length - 1);
  return text.slice(0, line > length / 2 ? line + 1 : length);
}

/** A text in blocks of whole lines. A line that is longer than a block stays whole. */
export function blocksOf(text: string): string[] {
  const blocks: string[] = [];
  let from = 0;
  while (text.length - from > BLOCK) {
    const near = text.lastIndexOf("\n", from + BLOCK) + 1;
    const end = near > from ? near : text.indexOf("\n", from + BLOCK) + 1;
    if (end <= from) break;
    blocks.push(text.slice(from, end));
    from = end;
  }
  return [...blocks, text.slice(from)];
}
