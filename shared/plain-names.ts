/** Cleans foreign names that people read and compare. */
import * as z from "zod";

/** Control characters, other line ends, marks that change the text direction, and invisible characters. */
export const MISLEADING =
  /[\p{Cc}\p{Bidi_Control}\u00ad\u180e\u200b\u2028\u2029\u2060-\u2064\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/u;

const EACH_MISLEADING = new RegExp(MISLEADING, "gu");

/** The name without characters that could make it look like another. */
export function plainName(name: string): string {
  return name.toWellFormed().replace(EACH_MISLEADING, "");
}

/** Text that others see in lists and prompts, stripped of hidden characters. */
export const shownText = z.string().overwrite(plainName);

/** The name of a device or a token. */
export const shownName = z.string().max(64).overwrite(plainName).trim().min(1);
