/** Paths of the local server. */
import type { IncomingMessage } from "node:http";
import { MatrxError } from "@matrx/shared/errors.ts";

/** The path of a request, without its query. */
export function pathOf(request: IncomingMessage): string {
  return (request.url ?? "/").replace(/\?.*$/, "");
}

/** `there`: what the server answers, as `GET /path`. */
export function notHere(request: IncomingMessage, there: readonly string[]): MatrxError {
  return new MatrxError({
    code: "NOT_FOUND",
    message: `Nothing at ${request.method} ${pathOf(request).slice(0, 128)}`,
    hint: `Available: ${there.join(", ")}, and the WebSocket /ws`,
    hop: "agent",
  });
}
