/** What is said of something that waits until a person allows it. */

/** After what waits, such as "The picture". */
export const WAITS = "waits for approval. Nothing happens until then.";

/** The same as news, which has no link. */
export function waitsNotice(what: string): string {
  return `${what} ${WAITS} Decide in Activity, under Needs you.`;
}
