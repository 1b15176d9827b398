/** Nothing at this path. */
import { problemOfShape } from "../problem.ts";

export function notFound(): Response {
  return problemOfShape({
    code: "NOT_FOUND",
    message: "Nothing here for this path and method",
    hint: "GET /docs lists all routes; GET /openapi.json does so for programs",
    hop: "relay",
  });
}
