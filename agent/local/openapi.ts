/** The local server's whole interface, and the OpenAPI document of it. */
import * as api from "@matrx/shared/api.ts";
import { answerSchema } from "@matrx/shared/caller/to-caller.ts";
import type { ErrorCode } from "@matrx/shared/errors.ts";
import * as bodies from "@matrx/shared/openapi/bodies.ts";
import {
  ANSWER_EXAMPLE,
  CALL_EXAMPLE,
  EVENTS_EXAMPLE,
  eventQuery,
  MALFORMED_CALL,
  matrxCall,
  switched,
  toolFormat,
} from "@matrx/shared/openapi/call-parts.ts";
import { type OpenApiDocument, openApiDocument } from "@matrx/shared/openapi/document.ts";
import type { Operation, Surface } from "@matrx/shared/openapi/operation.ts";
import { CALL_HEADER } from "@matrx/shared/tokens.ts";
import * as z from "zod";
import { AGENT_VERSION } from "../config/program.ts";
import { triggerSchema } from "./events.ts";

const greetingSchema = z.object({ status: z.literal("ok"), name: z.literal("matrx"), version: z.string() });
const triggeredSchema = z.object({
  id: z.string(),
  event_type: z.string(),
  timestamp: z.iso.datetime(),
  relay: z.enum(["connected", "waiting", "none"]),
});

const EVENT_ID = "0199d3a4-7c1e-7b52-9f3e-2d6a8c410e75";

export const LOCAL: Surface = {
  title: "Matrx, local server",
  version: AGENT_VERSION,
  description:
    "This machine's tools at http://localhost, for its own programs, while `matrx serve` is running. Every error is problem+json (RFC 9457) with a `code` and usually a `hint` on what to do. Requests from pages need an origin allowed with `--allow-origin`.",
  tags: {
    Tools: "What this machine can do, and how to call it",
    Events: "What this machine reports",
    Server: "The server itself",
  },
  security: {
    bearer: { type: "http", scheme: "bearer", description: "`matrx serve` prints where the token is" },
  },
  path: {},
  schemas: {
    problemSchema: api.problemSchema,
    toolNamesSchema: api.toolNamesSchema,
    toolDefinitionsSchema: api.toolDefinitionsSchema,
    answerSchema,
    callBodySchema: bodies.callBodySchema,
    healthSchema: bodies.healthSchema,
    openApiSchema: bodies.openApiSchema,
    greetingSchema,
    eventListSchema: api.eventListSchema,
    eventViewSchema: api.eventViewSchema,
    triggerSchema,
    triggeredSchema,
  },
  operations: [
    {
      method: "GET",
      path: "/tools/list",
      id: "listToolNames",
      tag: "Tools",
      summary: "Names of the tools",
      access: "caller",
      query: { format: toolFormat },
      errors: ["INVALID_PARAMETERS"],
      answers: {
        200: {
          description: "Names; with `?format=` definitions for models",
          schema: z.union([api.toolNamesSchema, api.toolDefinitionsSchema]),
          example: { tools: ["Bash", "ListDirectory", "Read"] },
        },
      },
    },
    {
      method: "POST",
      path: "/tools/invoke",
      id: "invokeTool",
      tag: "Tools",
      summary: "Invoke a tool",
      description: "Runs in its own session. `id` and `stream` are for WebSockets and ignored here.",
      access: "caller",
      body: { schema: bodies.callBodySchema, example: CALL_EXAMPLE },
      answers: {
        200: {
          description:
            'The tool\'s answer; with `"type": "error"`, why it failed. While the call runs, white space before the JSON keeps the connection alive.',
          schema: answerSchema,
          example: ANSWER_EXAMPLE,
          headers: { [CALL_HEADER]: matrxCall },
        },
        400: MALFORMED_CALL,
      },
    },
    {
      method: "GET",
      path: "/ws",
      id: "openCallerLink",
      tag: "Tools",
      summary: "Caller link (WebSocket)",
      description:
        "Many calls on one connection. A request without `Upgrade: websocket` gets 404. Browsers sign in by the subprotocols `matrx.v1, bearer.TOKEN`.",
      access: "caller",
      query: { session: { schema: z.string(), description: "Continue this session" } },
      answers: { 101: switched("caller link") },
      errors: ["NOT_FOUND"],
    },
    {
      method: "POST",
      path: "/trigger",
      id: "trigger",
      tag: "Events",
      summary: "Report an event",
      description: "All other fields become its data.",
      access: "caller",
      body: {
        schema: triggerSchema,
        example: { event_type: "backup_done", severity: "info", data: { files: 120 } },
      },
      answers: {
        200: {
          description: "The event, and whether it is sent to the relay now, later, or not at all",
          schema: triggeredSchema,
          example: {
            id: EVENT_ID,
            event_type: "backup_done",
            timestamp: "2026-02-12T10:45:00.000Z",
            relay: "connected",
          },
        },
      },
    },
    {
      method: "GET",
      path: "/events",
      id: "listEvents",
      tag: "Events",
      summary: "The last events",
      description: "Since this program started, newest last.",
      access: "caller",
      query: eventQuery,
      answers: {
        200: {
          description: "Events",
          schema: api.eventListSchema,
          example: EVENTS_EXAMPLE,
        },
      },
      errors: ["INVALID_PARAMETERS"],
    },
    {
      method: "GET",
      path: "/",
      id: "greet",
      tag: "Server",
      summary: "Is it there?",
      access: "anyone",
      answers: {
        200: {
          description: "It is",
          schema: greetingSchema,
          example: { status: "ok", name: "matrx", version: "0.1.0" },
        },
      },
    },
    {
      method: "GET",
      path: "/health",
      id: "getHealth",
      tag: "Server",
      summary: "Is it well?",
      access: "anyone",
      answers: { 200: { description: "It is", schema: bodies.healthSchema, example: { status: "ok" } } },
    },
    {
      method: "GET",
      path: "/openapi.json",
      id: "getDescription",
      tag: "Server",
      summary: "This description",
      access: "anyone",
      answers: { 200: { description: "OpenAPI 3.1", schema: bodies.openApiSchema } },
    },
    {
      method: "GET",
      path: "/docs",
      id: "getDocs",
      tag: "Server",
      summary: "This description, for people",
      access: "anyone",
      answers: { 200: { description: "A page", other: { "text/html": "The page" } } },
      errors: ["NOT_FOUND"],
    },
  ],
  implied,
};

/** Any request may come under a wrong Host or Origin, or meet a fault of ours; the rest follows from what it is. */
function implied({ access, body }: Operation): ErrorCode[] {
  const codes: ErrorCode[] = ["PERMISSION_DENIED", "INTERNAL"];
  if (access === "caller") codes.push("UNAUTHENTICATED");
  if (body) codes.push("INVALID_MESSAGE", "INVALID_PARAMETERS", "PAYLOAD_TOO_LARGE");
  return codes;
}

export function localDocument(): OpenApiDocument {
  return openApiDocument(LOCAL);
}
