/** What the local server answers: one line for each route. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { AGENT_VERSION } from "../config/program.ts";
import type { Answer, LocalParts } from "./answer.ts";
import { listEvents, trigger } from "./events.ts";
import { invoke } from "./invoke.ts";
import { notAnyMore } from "./legacy.ts";
import { notHere, pathOf } from "./path.ts";
import { describe, REFERENCE_ROUTES, showReference } from "./reference.ts";
import { listTools, sendJson } from "./rest.ts";

interface Route {
  readonly answer: Answer;
  /** It says nothing of the machine, so it needs no token. */
  readonly isOpen?: true;
}

const ROUTES: ReadonlyMap<string, Route> = new Map([
  ["GET /", { answer: greet, isOpen: true }],
  ["GET /health", { answer: health, isOpen: true }],
  ["GET /tools/list", { answer: listTools }],
  ["POST /tools/invoke", { answer: invoke }],
  ["POST /trigger", { answer: trigger }],
  ["GET /events", { answer: listEvents }],
  ["GET /openapi.json", { answer: describe, isOpen: true }],
  ["GET /docs", { answer: showReference, isOpen: true }],
]);

export const ROUTE_LINES: readonly string[] = [...ROUTES.keys()];

export function needsToken(request: IncomingMessage): boolean {
  return routeOf(request)?.isOpen !== true;
}

/** Answers a request that was let in. Throws MatrxError. */
export async function answerRest(
  request: IncomingMessage,
  response: ServerResponse,
  parts: LocalParts,
): Promise<void> {
  const route = routeOf(request);
  if (!route) throw notAnyMore(request) ?? notHere(request, ROUTE_LINES);
  await route.answer(request, response, parts);
}

function routeOf(request: IncomingMessage): Route | undefined {
  const line = `${request.method} ${pathOf(request)}`;
  const file = REFERENCE_ROUTES.get(line);
  return ROUTES.get(line) ?? (file && { answer: file, isOpen: true });
}

function greet(_request: IncomingMessage, response: ServerResponse): void {
  sendJson(response, 200, { status: "ok", name: "matrx", version: AGENT_VERSION });
}

function health(_request: IncomingMessage, response: ServerResponse): void {
  sendJson(response, 200, { status: "ok" });
}
