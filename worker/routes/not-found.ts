/** Nothing at this path. */
import { problemOfShape } from "../problem.ts";

export function notFound(): Response {
  return problemOfShape({
    code: "NOT_FOUND",
    message: "There is nothing at this path for this method",
    hint: "docs/protocol.md lists the routes",
    hop: "relay",
  });
}
