/** The error when no route matches a path, or its method. */
import { type MatrxError, relayError } from "../errors.ts";
import type { Operation } from "../openapi/operation.ts";

const hint = "GET /docs lists all routes; GET /openapi.json does so for programs";

/** 405 with the allowed methods where other methods have a route (RFC 9110, 15.5.6), else 404. */
export function noRouteError(path: string, operations: readonly Operation[]): MatrxError {
  const allowed = methodsAt(path, operations);
  if (allowed.length === 0) return relayError("NOT_FOUND", "Nothing here at this path", { hint });
  const allow = allowed.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  return relayError("METHOD_NOT_ALLOWED", `This path accepts ${allow.join(", ")}`, {
    hint,
    details: { allow },
  });
}

/** The methods of the most specific route that matches a path: the one with the fewest parameters. */
function methodsAt(path: string, operations: readonly Operation[]): string[] {
  const routes = operations.filter((operation) => patternOf(operation.path).test(path));
  const fewest = Math.min(...routes.map((route) => parametersIn(route.path)));
  return routes.filter((route) => parametersIn(route.path) === fewest).map(({ method }) => method);
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+")}$`);
}

function parametersIn(path: string): number {
  return path.split("{").length;
}
