/** Errors as HTTP: problem+json (RFC 9457). */
import { allowHeaderOf, type ErrorShape, problemOf, shapeOf } from "@matrx/shared/errors.ts";
import { logIncident } from "./log.ts";

/** What is sent is what its type says, whoever wrote it. */
export const NO_SNIFFING = { "X-Content-Type-Options": "nosniff" } as const;

/** The response of any thrown value; what is not ours is logged under an incident number. */
export function problemResponse(error: unknown): Response {
  const incident = crypto.randomUUID().slice(0, 8);
  const shape = shapeOf(error, "relay", incident);
  if (shape.code === "INTERNAL") logIncident(incident, error);
  return problemOfShape(shape);
}

/** The response of a known error. */
export function problemOfShape(shape: ErrorShape, extra: Record<string, unknown> = {}): Response {
  const problem = problemOf(shape);
  const headers = new Headers({
    "Content-Type": "application/problem+json",
    "Cache-Control": "no-store",
    // Also on what leaves past the Worker's routes.
    ...NO_SNIFFING,
  });
  if (problem.status === 401) headers.set("WWW-Authenticate", 'Bearer realm="matrx", error="invalid_token"');
  const allow = allowHeaderOf(shape);
  if (allow) headers.set("Allow", allow);
  if (problem.status === 429) headers.set("Retry-After", "1");
  return new Response(JSON.stringify({ ...problem, ...extra }), { status: problem.status, headers });
}
