/** Any thrown value, as it leaves the relay. */
import { problemOfShape } from "@matrx/shared/caller/problem.ts";
import { type ErrorShape, MatrxError, shapeOf } from "@matrx/shared/errors.ts";
import { logIncident } from "./log.ts";
import { storageFailure } from "./storage-failure.ts";

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
