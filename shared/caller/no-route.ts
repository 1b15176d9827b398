/** The error when no route matches a path, or its method. */
import { type MatrxError, relayError } from "../errors.ts";
import type { Operation } from "../openapi/operation.ts";

const hint = "GET /docs lists all routes; GET /openapi.json does so for programs";

/** Makes the error for a path: 405 with the allowed methods where other methods have a route (RFC 9110, 15.5.6), else 404. */
export function noRouteIn(operations: readonly Operation[]): (path: string) => MatrxError {
  const routes = operations.map(({ method, path }) => ({
    method,
    pattern: patternOf(path),
    parameters: path.split("{").length,
  }));
  return (path) => {
    const matching = routes.filter(({ pattern }) => pattern.test(path));
    // Only the most specific route counts: the one with the fewest parameters.
    const fewest = Math.min(...matching.map(({ parameters }) => parameters));
    const allowed = matching.filter(({ parameters }) => parameters === fewest);
    return allowed.length > 0 ? notAllowedError(allowed.map(({ method }) => method)) : nothingHereError();
  };
}

/** For a path that no route can match. */
export function nothingHereError(): MatrxError {
  return relayError("NOT_FOUND", "Nothing here at this path", { hint });
}

function notAllowedError(allowed: readonly string[]): MatrxError {
  const allow = allowed.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  return relayError("METHOD_NOT_ALLOWED", `This path accepts ${allow.join(", ")}`, {
    hint,
    details: { allow },
  });
}

function patternOf(path: string): RegExp {
  return new RegExp(
    `^${path
      .replaceAll(".", "\\.")
      .replace("{path}", "[^]+")
      .replace(/\{\w+\}/g, "[^/]+")}$`,
  );
}
