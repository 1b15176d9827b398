/** Errors as they are told to a caller, and to whoever reads the log. */
import { type ErrorShape, MatrxError, shapeOf } from "@matrx/shared/errors.ts";
import { randomBase32 } from "@matrx/shared/ids.ts";
import type { Logger } from "pino";

/** The public shape of any thrown value; unexpected errors are logged under an incident number. */
export function toldError(
  error: unknown,
  log: Logger,
  message: string,
  facts: Record<string, unknown> = {},
): ErrorShape {
  const incident = randomBase32(8);
  if (!(error instanceof MatrxError)) log.error({ err: error, incident, ...facts }, message);
  return shapeOf(error, "agent", incident);
}
