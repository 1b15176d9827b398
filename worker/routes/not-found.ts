/** Nothing at this path. */
import { problemOfShape } from "../problem.ts";

export function notFound(): Response {
  return problemOfShape({
    code: "NOT_FOUND",
    message: "There is nothing at this path for this method",
    hint: "GET /docs lists the routes, GET /openapi.json for programs",
    hop: "relay",
  });
}
