/** Errors as HTTP answers carry them: problem+json (RFC 9457). */
import { problemSchema } from "./api.ts";
import { type Hop, MatrxError } from "./errors.ts";

/** The error in a body; undefined if it is not one. */
export function errorInProblem(body: unknown): MatrxError | undefined {
  const problem = problemSchema.safeParse(body).data;
  if (!problem) return undefined;
  const { code, detail, hint, hop, type: _, title: __, status: ___, ...details } = problem;
  return new MatrxError({ code, message: detail, hint, hop: hop as Hop, details });
}
