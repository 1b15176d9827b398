/** No route for this path, or none for this method. */
import type { Hono } from "hono";
import type { RouterRoute } from "hono/types";
import type { Env } from "../env.ts";
import { problemOfShape } from "../problem.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
const HINT = "GET /docs lists all routes; GET /openapi.json does so for programs";

/** 405 with `Allow` where other methods have a route (RFC 9110, 15.5.6), else 404. */
export function notFound(path: string, app: Hono<{ Bindings: Env }>): Response {
  const allowed = methodsAt(app, path);
  if (allowed.length === 0) {
    return problemOfShape({
      code: "NOT_FOUND",
      message: "Nothing here at this path",
      hint: HINT,
      hop: "relay",
    });
  }
  const allow = allowed.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  return problemOfShape({
    code: "METHOD_NOT_ALLOWED",
    message: `This path accepts ${allow.join(", ")}`,
    hint: HINT,
    hop: "relay",
    details: { allow },
  });
}

/** The methods of the most specific route that matches a path: the one with the fewest parameters. */
function methodsAt(app: Hono<{ Bindings: Env }>, path: string): string[] {
  const routes = METHODS.flatMap((method) => routesAt(app, method, path));
  const fewest = Math.min(...routes.map((route) => parametersIn(route.path)));
  return routes.filter((route) => parametersIn(route.path) === fewest).map(({ method }) => method);
}

/** Middleware stands among the routes under the method ALL, and the files of the page under `/*`. */
function routesAt(app: Hono<{ Bindings: Env }>, method: string, path: string): RouterRoute[] {
  const [handlers] = app.router.match(method, path);
  return handlers
    .map(([[, route]]) => route)
    .filter((route) => route.method === method && route.path !== "/*");
}

function parametersIn(path: string): number {
  return path.split(":").length;
}
