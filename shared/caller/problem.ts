/** Errors as HTTP: problem+json (RFC 9457). */
import { allowHeaderOf, challengeOf, type ErrorShape, problemOf } from "../errors.ts";
import { retryAfterHeaderOf } from "../retry.ts";

/** Browsers must not guess another content type, whoever wrote the body. */
export const NO_SNIFFING = { "X-Content-Type-Options": "nosniff" } as const;

/** The response of a known error. */
export function problemOfShape(shape: ErrorShape, extra: Record<string, unknown> = {}): Response {
  const problem = problemOf(shape);
  const headers = new Headers({
    "Content-Type": "application/problem+json",
    "Cache-Control": "no-store",
    // Needed on responses that bypass the routes, too.
    ...NO_SNIFFING,
  });
  const challenge = challengeOf(shape);
  if (challenge) headers.set("WWW-Authenticate", challenge);
  const allow = allowHeaderOf(shape);
  if (allow) headers.set("Allow", allow);
  const retryAfter = retryAfterHeaderOf(shape);
  if (retryAfter) headers.set("Retry-After", retryAfter);
  return new Response(JSON.stringify({ ...problem, ...extra }), { status: problem.status, headers });
}
