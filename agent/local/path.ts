/** Paths of the local server. */
import type { IncomingMessage } from "node:http";
import { MatrxError } from "@matrx/shared/errors.ts";

/** The path of a request, without its query. */
export function pathOf(request: IncomingMessage): string {
  return (request.url ?? "/").replace(/\?.*$/, "");
}

/**
 * The error for a request that no route answers: 405 with the allowed methods if the path has other methods, else 404.
 * `there` lists the routes, each as `GET /path`.
 */
export function notHere(request: IncomingMessage, there: readonly string[]): MatrxError {
  const allow = there
    .map((line) => line.split(" ") as [string, string])
    .filter(([, path]) => path === pathOf(request))
    .map(([method]) => method);
  if (allow.length > 0) return wrongMethod(request, allow);
  return new MatrxError({
    code: "NOT_FOUND",
    message: `Nothing at ${request.method} ${pathOf(request).slice(0, 128)}`,
    hint: `Available: ${there.join(", ")}, and the WebSocket /ws`,
    hop: "agent",
  });
}

function wrongMethod(request: IncomingMessage, allow: readonly string[]): MatrxError {
  return new MatrxError({
    code: "METHOD_NOT_ALLOWED",
    message: `${pathOf(request)} accepts ${allow.join(", ")}, not ${request.method}`,
    hint: "GET /docs lists all routes; GET /openapi.json does so for programs",
    hop: "agent",
    details: { allow },
  });
}
