/** Times of files. A file system may keep times that neither ISO 8601 nor a Date can say. */

const FIRST = Date.parse("0000-01-01T00:00:00.000Z");
const LAST = Date.parse("9999-12-31T23:59:59.999Z");

/** The time in milliseconds since 1970 as a Date, or the nearest one with a year of four digits. */
export function fileTime(ms: bigint): Date {
  return new Date(Math.min(Math.max(Number(ms), FIRST), LAST));
}
