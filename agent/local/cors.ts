/** What browsers need to let an allowed page call. Foreign origins were refused before. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { CALL_HEADER, SESSION_HEADER } from "@matrx/shared/tokens.ts";

export function allowOrigin(request: IncomingMessage, response: ServerResponse): void {
  const { origin } = request.headers;
  response.setHeader("Vary", "Origin");
  response.setHeader("Cache-Control", "no-store");
  if (origin === undefined) return;
  response.setHeader("Access-Control-Allow-Origin", origin);
  response.setHeader("Access-Control-Expose-Headers", `${CALL_HEADER}, ${SESSION_HEADER}`);
}

/** Answers `OPTIONS`; a preflight carries no token. */
export function answerPreflight(response: ServerResponse): void {
  response.writeHead(204, {
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    // A page on the internet asks for a machine on the private network.
    "Access-Control-Allow-Private-Network": "true",
    "Access-Control-Max-Age": "600",
  });
  response.end();
}
