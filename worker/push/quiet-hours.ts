/** Whether it is quiet now where the person is. */
import type { QuietHours } from "@matrx/shared/push-api.ts";

export function isQuiet({ from, to, time_zone }: QuietHours, now: number): boolean {
  const time = clockAt(time_zone, now);
  // Times of day compare as text; hours that end before they begin go over midnight.
  return from < to ? from <= time && time < to : from <= time || time < to;
}

/** The time of day, as in `22:05`. */
function clockAt(timeZone: string, now: number): string {
  const clock = { timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
  return new Intl.DateTimeFormat("en-GB", clock).format(now);
}
