/** Times of files. A file system may keep times that neither ISO 8601 nor a Date can say. */

const FIRST = Date.parse("0000-01-01T00:00:00.000Z");
const LAST = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Nanoseconds since 1970 as `utimes` takes them. That is a number in seconds, which can't say all of them, and the system
 * cuts off the rest: not a moment before the time that was meant, or its millisecond would be the one before.
 */
export function secondsOf(nanoseconds: bigint): number {
  let seconds = Number(nanoseconds) / 1e9;
  if (seconds <= 0) return seconds;
  while (nanosecondsOf(seconds) < nanoseconds) seconds *= 1 + Number.EPSILON;
  return seconds;
}

/** As the system takes it. */
function nanosecondsOf(seconds: number): bigint {
  const whole = Math.trunc(seconds);
  return BigInt(whole) * 1_000_000_000n + BigInt(Math.trunc((seconds - whole) * 1e9));
}

/** As `secondsOf`. */
export function secondsOfDate(date: Date): number {
  return secondsOf(BigInt(date.getTime()) * 1_000_000n);
}

/** The time in milliseconds since 1970 as a Date, or the nearest one with a year of four digits. */
export function fileTime(ms: bigint): Date {
  return new Date(Math.min(Math.max(Number(ms), FIRST), LAST));
}
