/** Keys of conditions fit the frame: at most 256 characters. */
import { createHash } from "node:crypto";

const MAX = 256;

/** The text itself, or its beginning with a digest of the whole. */
export function keyOf(text: string): string {
  if (text.length <= MAX) return text;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return `${text.slice(0, MAX - 20).toWellFormed()}...${digest}`;
}
