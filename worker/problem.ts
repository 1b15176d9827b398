/** What the outside sees of a thrown value. */
import { problemOfShape } from "@matrx/shared/caller/problem.ts";
import { type ErrorShape, MatrxError, shapeOf } from "@matrx/shared/errors.ts";
import { logIncident } from "./log.ts";
import { storageFailure } from "./storage-failure.ts";

/** The public shape of any thrown value; unexpected errors are logged under an incident number. */
export function errorShapeOf(error: unknown): ErrorShape {
  if (error instanceof MatrxError) return error.shape();
  const incident = crypto.randomUUID().slice(0, 8);
  logIncident(incident, error);
  const failure = storageFailure(error);
  if (!failure) return shapeOf(error, "relay", incident);
  return { ...failure, details: { ...failure.details, incident } };
}

/** The response for any thrown value. */
export function problemResponse(error: unknown): Response {
  return problemOfShape(errorShapeOf(error));
}
