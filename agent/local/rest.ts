/** REST of the guide: the list of tools; and how bodies are read and answers written. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { allowHeaderOf, MatrxError, problemOf } from "@matrx/shared/errors.ts";
import { check, parseJsonObject } from "@matrx/shared/json-input.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import { toolDefinition, toolFormatSchema } from "@matrx/shared/tool-formats.ts";
import * as z from "zod";
import type { Answer } from "./answer.ts";

const listQuerySchema = z.object({ format: toolFormatSchema.optional() });

/** Names; with `?format=` definitions for models, of what may be called now. Throws MatrxError. */
export const listTools: Answer = async (request, response, { calls }) => {
  const query = new URL(request.url ?? "/", "http://localhost").searchParams;
  const { format } = check(listQuerySchema, Object.fromEntries(query));
  const tools = format
    ? (await calls.openTools()).map((tool) => toolDefinition(tool, format))
    : calls.toolNames;
  sendJson(response, 200, { ...(format && { format }), tools });
};

/** Throws MatrxError. */
export async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  return parseJsonObject(await readJsonText(request), LIMITS.restBodyBytes);
}

/** The text of a body that is said to be JSON. Throws MatrxError. */
export async function readJsonText(request: IncomingMessage): Promise<string> {
  const type = request.headers["content-type"] ?? "";
  // Forms and plain text come from any page without a preflight.
  if (!/^application\/json\b/i.test(type)) throw notJson(type);
  return readText(request);
}

/** The server ends requests that take too long to come. */
async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request) {
      bytes += (chunk as Buffer).length;
      if (bytes > LIMITS.restBodyBytes) throw tooLarge();
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    throw error instanceof MatrxError ? error : brokenOff(error);
  }
  return Buffer.concat(chunks).toString();
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
  const allow = allowHeaderOf(error);
  response.writeHead(problem.status, {
    "Content-Type": "application/problem+json",
    ...(problem.status === 401 && { "WWW-Authenticate": "Bearer" }),
    ...(allow && { Allow: allow }),
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

function brokenOff(cause: unknown): MatrxError {
  return new MatrxError(
    {
      code: "INVALID_MESSAGE",
      message: "The body ended too early",
      hint: "Send the request again",
      hop: "agent",
    },
    cause,
  );
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
