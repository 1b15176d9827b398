/** REST of the guide: list the tools, call one in a fresh session; and how bodies are read and answers written. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { callSchema, check, parseJsonObject } from "@matrx/shared/caller-frames.ts";
import { MatrxError, problemOf } from "@matrx/shared/errors.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import { CALL_HEADER } from "@matrx/shared/tokens.ts";
import { toolDefinition, toolFormatSchema } from "@matrx/shared/tool-formats.ts";
import * as z from "zod";
import type { Answer } from "./answer.ts";
import { endsWithCaller } from "./local-calls.ts";

const listQuerySchema = z.object({ format: toolFormatSchema.optional() });

/** Names; with `?format=` definitions for models, of what may be called now. Throws MatrxError. */
export const listTools: Answer = (request, response, { calls }) => {
  const query = new URL(request.url ?? "/", "http://localhost").searchParams;
  const { format } = check(listQuerySchema, Object.fromEntries(query));
  const tools = format ? calls.openTools().map((tool) => toolDefinition(tool, format)) : calls.toolNames;
  sendJson(response, 200, { ...(format && { format }), tools });
};

export const invoke: Answer = async (request, response, { calls }) => {
  const { id: _, stream: __, ...call } = check(callSchema, await readJson(request));
  const started = calls.start(call);
  response.on("close", () => {
    if (!response.writableFinished && endsWithCaller(call)) calls.cancel(started.call);
  });
  const { body } = await started.outcome;
  if (response.destroyed) return;
  response.writeHead(200, {
    "Content-Type": "application/json",
    "Content-Length": body.length,
    [CALL_HEADER]: started.call,
  });
  response.end(body);
};

/** Throws MatrxError. */
export async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const type = request.headers["content-type"] ?? "";
  // Forms and plain text come from any page without a preflight.
  if (!/^application\/json\b/i.test(type)) throw notJson(type);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > LIMITS.restBodyBytes) throw tooLarge();
    chunks.push(chunk as Buffer);
  }
  return parseJsonObject(Buffer.concat(chunks).toString(), LIMITS.restBodyBytes);
}

export function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify(body));
}

/** Problem details (RFC 9457): this server's own, also where it checks by what it shares with the relay. */
export function problemHere(error: MatrxError) {
  return problemOf({ ...error.shape(), hop: "agent" });
}

export function sendProblem(response: ServerResponse, error: MatrxError): void {
  if (response.headersSent) return void response.destroy();
  const problem = problemHere(error);
  response.writeHead(problem.status, {
    "Content-Type": "application/problem+json",
    ...(problem.status === 401 && { "WWW-Authenticate": "Bearer" }),
    // The rest of a body that was refused is not read.
    ...(problem.status === 413 && { Connection: "close" }),
  });
  response.end(JSON.stringify(problem));
}

function notJson(type: string): MatrxError {
  return new MatrxError({
    code: "INVALID_MESSAGE",
    message: `The body's Content-Type is ${type ? `"${type.slice(0, 64)}"` : "missing"}`,
    hint: "Send JSON with the header Content-Type: application/json",
    hop: "agent",
  });
}

function tooLarge(): MatrxError {
  return new MatrxError({
    code: "PAYLOAD_TOO_LARGE",
    message: `The body is larger than ${LIMITS.restBodyBytes} bytes`,
    hint: "Send large content in parts",
    hop: "agent",
    details: { limit_bytes: LIMITS.restBodyBytes },
  });
}
