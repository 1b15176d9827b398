/** No route for this path, or none for this method. */
import type { Hono } from "hono";
import type { Env } from "../env.ts";
import { problemOfShape } from "../problem.ts";

const METHODS = ["GET", "POST", "PUT", "DELETE"] as const;
const HINT = "GET /docs lists the routes, GET /openapi.json for programs";

/** 405 with `Allow` where other methods have a route (RFC 9110, 15.5.6), else 404. */
export function notFound(path: string, app: Hono<{ Bindings: Env }>): Response {
  const allowed = METHODS.filter((method) => hasRoute(app, method, path));
  if (allowed.length === 0) {
    return problemOfShape({
      code: "NOT_FOUND",
      message: "There is nothing at this path",
      hint: HINT,
      hop: "relay",
    });
  }
  const allow = allowed.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  return problemOfShape({
    code: "METHOD_NOT_ALLOWED",
    message: `This path takes ${allow.join(", ")}`,
    hint: HINT,
    hop: "relay",
    details: { allow },
  });
}

/** Middleware stands among the routes under the method ALL, and the files of the page under `/*`. */
function hasRoute(app: Hono<{ Bindings: Env }>, method: string, path: string): boolean {
  const [handlers] = app.router.match(method, path);
  return handlers.some(([[, route]]) => route.method === method && route.path !== "/*");
}
