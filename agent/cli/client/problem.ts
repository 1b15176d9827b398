/** Problem details (RFC 9457), by which the relay refuses. */
import { problemSchema } from "@matrx/shared/api.ts";
import { type Hop, MatrxError } from "@matrx/shared/errors.ts";

/** The error that a body tells of; undefined: it is no problem. */
export function errorInProblem(body: unknown): MatrxError | undefined {
  const problem = problemSchema.safeParse(body).data;
  if (!problem) return undefined;
  const { code, detail, hint, hop, type: _, title: __, status: ___, ...details } = problem;
  return new MatrxError({ code, message: detail, hint, hop: hop as Hop, details });
}
