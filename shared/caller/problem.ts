/** Errors as HTTP: problem+json (RFC 9457). */
import { allowHeaderOf, type ErrorShape, problemOf } from "../errors.ts";

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
  if (problem.status === 401) headers.set("WWW-Authenticate", 'Bearer realm="matrx", error="invalid_token"');
  const allow = allowHeaderOf(shape);
  if (allow) headers.set("Allow", allow);
  if (problem.status === 429) headers.set("Retry-After", "1");
  return new Response(JSON.stringify({ ...problem, ...extra }), { status: problem.status, headers });
}
