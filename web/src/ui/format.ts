/** Times, durations and sizes as people read them. */

// They stand in English sentences; dates are written as the person's browser does.
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "narrow" });
const UNITS = [
  { unit: "day", ms: 86_400_000 },
  { unit: "hour", ms: 3_600_000 },
  { unit: "minute", ms: 60_000 },
] as const;

const NO_TIME = "at an unknown time";

/** "5 min. ago", "in 2 days"; within a minute "just now". */
export function ago(at: string | number, now = Date.now()): string {
  const away = new Date(at).getTime() - now;
  if (Number.isNaN(away)) return NO_TIME;
  const found = UNITS.find(({ ms }) => Math.abs(away) >= ms);
  if (!found) return away > 30_000 ? "in a minute" : "just now";
  return RELATIVE.format(Math.trunc(away / found.ms), found.unit);
}

/** "14:32", with the date if it was another day. */
export function clockTime(at: string | number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return NO_TIME;
  const isToday = date.toDateString() === new Date().toDateString();
  return date.toLocaleString(
    [],
    isToday ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" },
  );
}

export function dateOf(at: string | number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? NO_TIME : date.toLocaleDateString([], { dateStyle: "medium" });
}

/** Of milliseconds: "48 ms", "3.2 s", "2 min 5 s". */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** Of milliseconds, for what counts down or up by the second: "48 s", "9 min 5 s". */
export function countdown(ms: number): string {
  const seconds = Math.floor(Math.max(ms, 0) / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** Of bytes: "1.4 MiB". */
export function size(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const at = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), units.length - 1);
  const value = bytes / 1024 ** at;
  return `${at === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[at]}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
