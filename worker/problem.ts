/** Errors as HTTP: problem+json (RFC 9457). */
import { allowHeaderOf, type ErrorShape, MatrxError, problemOf, shapeOf } from "@matrx/shared/errors.ts";
import { logIncident } from "./log.ts";
import { storageFailure } from "./storage-failure.ts";

/** What is sent is what its type says, whoever wrote it. */
export const NO_SNIFFING = { "X-Content-Type-Options": "nosniff" } as const;

/** The outside of any thrown value; what is not ours is logged under an incident number. */
export function errorShapeOf(error: unknown): ErrorShape {
  if (error instanceof MatrxError) return error.shape();
  const incident = crypto.randomUUID().slice(0, 8);
  logIncident(incident, error);
  const failure = storageFailure(error);
  if (!failure) return shapeOf(error, "relay", incident);
  return { ...failure, details: { ...failure.details, incident } };
}

/** The response of any thrown value. */
export function problemResponse(error: unknown): Response {
  return problemOfShape(errorShapeOf(error));
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
