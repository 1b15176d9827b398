/** When to try again after `RATE_LIMITED`: in words, for programs, and as a header. */
import type { ErrorShape } from "./errors.ts";

const DAY_MS = 24 * 60 * 60_000;
/** Above this many seconds, a hint speaks of minutes. */
const SECONDS_MAX = 120;

/** The hint and details of an error that says in how many milliseconds to try again. */
export function retryIn(ms: number, advice?: string, details: Readonly<Record<string, unknown>> = {}) {
  const when = `Try again in ${inWords(Math.max(1, Math.ceil(ms / 1000)))}`;
  return {
    hint: advice ? `${when}; ${advice}` : when,
    details: { ...details, retry_after_ms: Math.ceil(ms) },
  };
}

/**
 * The `Retry-After` header of an error (RFC 9110, 10.2.3): whole seconds, rounded up, so that a request made then is not
 * too early. Undefined if the error does not say when.
 */
export function retryAfterHeaderOf({ code, details }: ErrorShape): string | undefined {
  const ms = code === "RATE_LIMITED" ? retryAfterMsOf(details) : undefined;
  return ms === undefined ? undefined : String(Math.max(1, Math.ceil(ms / 1000)));
}

/** The wait in an error's details, which a device may have written. */
export function retryAfterMsOf(details: Readonly<Record<string, unknown>> | undefined): number | undefined {
  const ms = details?.retry_after_ms;
  return typeof ms === "number" && ms >= 0 && ms <= DAY_MS ? ms : undefined;
}

function inWords(seconds: number): string {
  if (seconds > SECONDS_MAX) return `${Math.ceil(seconds / 60)} minutes`;
  return seconds === 1 ? "1 second" : `${seconds} seconds`;
}
