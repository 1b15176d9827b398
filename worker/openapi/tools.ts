/** The tools of a device, calling them, and the record of a call. */
import {
  callListSchema,
  callQuerySchema,
  callViewSchema,
  deviceToolsSchema,
  toolDefinitionsSchema,
  toolNamesSchema,
} from "@matrx/shared/api.ts";
import { answerSchema } from "@matrx/shared/caller/to-caller.ts";
import { ERROR_CODES } from "@matrx/shared/errors.ts";
import { callBodySchema, stoppingCallSchema, toolInputSchema } from "@matrx/shared/openapi/bodies.ts";
import {
  ANSWER_EXAMPLE,
  CALL_EXAMPLE,
  MALFORMED_CALL,
  timeoutMs,
  toolFormat,
} from "@matrx/shared/openapi/call-parts.ts";
import type { Answer, Operation, Parameter } from "@matrx/shared/openapi/operation.ts";
import { DEVICE_HEADER } from "@matrx/shared/tokens.ts";
import * as z from "zod";
import { ANSWER_HEADERS, CALL, CALL_HEADERS, CALL_VIEW_EXAMPLE, DEVICE, PATH, PENDING } from "./parts.ts";

const EVENTS = {
  "text/event-stream": "Events of the call: `call`, then `output` and `gap`, finally `result` or `error`",
};

const FORMAT = { format: toolFormat };

const names: Answer = {
  description: "Names only; with `?format=` definitions for models",
  schema: z.union([toolNamesSchema, toolDefinitionsSchema]),
  example: { tools: ["Bash", "ListDirectory", "Read"] },
};

const answered: Answer = {
  description: "The tool's answer. A command that exits with a nonzero code is also a success.",
  schema: answerSchema,
  example: ANSWER_EXAMPLE,
  other: EVENTS,
  headers: ANSWER_HEADERS,
};

const answeredByGuide: Answer = {
  ...answered,
  description:
    'The tool\'s answer; with `"type": "error"`, why it failed or was refused. While the call runs, white space before the JSON keeps the connection alive.',
};

const which = (name: string): Parameter => ({
  ...PATH.device,
  description: `The device; without it, and without ${name}, the only device of the credential.`,
});
const AT_ROOT = {
  query: { device: which(DEVICE_HEADER) },
  headers: { [DEVICE_HEADER]: which("`?device=`") },
};

const cancelOnDisconnect: Parameter = {
  schema: z.enum(["true", "false"]),
  description: "For event streams: also stop a call that changes something when its reader disconnects.",
};

const callQuery: Readonly<Record<string, Parameter>> = {
  state: { schema: callQuerySchema.shape.state.unwrap(), description: "Only calls in this state" },
  before: {
    schema: callQuerySchema.shape.before.unwrap(),
    description: "Only calls older than this one: `next` of the previous page",
  },
  limit: { schema: callQuerySchema.shape.limit, description: "How many at most" },
};

const { outcome: _, ...LISTED_CALL_EXAMPLE } = CALL_VIEW_EXAMPLE;

const lastEventId: Parameter = {
  schema: z.string(),
  description: "For event streams: `end` if the reader already has the last event.",
};

export const toolOperations: readonly Operation[] = [
  {
    method: "GET",
    path: "/v1/devices/{device}/system-prompt",
    id: "getSystemPrompt",
    tag: "Tools",
    summary: "What to tell a model about the device and its tools",
    description:
      "The guide's recommended addition to a system prompt, with the tools that the credential may call.",
    access: "caller",
    answers: { 200: { description: "The text", other: { "text/plain; charset=utf-8": "The text" } } },
  },
  {
    method: "GET",
    path: "/v1/devices/{device}/tools",
    id: "listTools",
    tag: "Tools",
    summary: "Tools with their schemas",
    description: "As the device last reported them; `effect` is what the gate treats each as.",
    access: "caller",
    query: FORMAT,
    errors: ["INVALID_PARAMETERS"],
    answers: {
      200: {
        description:
          "Each tool with description, effect and the JSON Schema of its input; with `?format=` definitions for models",
        schema: z.union([deviceToolsSchema, toolDefinitionsSchema]),
        example: {
          device: DEVICE,
          hash: "5b2f0c9e",
          tools: [
            {
              name: "ListDirectory",
              description: "Lists a folder.",
              effect: "read",
              input_schema: { type: "object", properties: { path: { type: "string" } } },
              timeout_ms: 30_000,
            },
          ],
        },
      },
    },
  },
  {
    method: "POST",
    path: "/v1/devices/{device}/tools/{tool}",
    id: "callTool",
    tag: "Tools",
    summary: "Call a tool",
    description:
      "The body is the tool's input. Errors are problem+json with the status of their code; they also have `output`, `call` and `device`.",
    access: "caller",
    query: { timeout_ms: timeoutMs, cancel_on_disconnect: cancelOnDisconnect },
    headers: CALL_HEADERS,
    body: { schema: toolInputSchema, example: { command: "make test" }, optional: true },
    answers: { 200: answered, 202: PENDING },
    // Whatever ends a call, in the relay, the agent or the tool.
    errors: ERROR_CODES,
  },
  {
    method: "GET",
    path: "/v1/devices/{device}/tools/list",
    id: "listToolNames",
    tag: "Guide",
    summary: "Names of the tools",
    access: "caller",
    query: FORMAT,
    answers: { 200: names },
    errors: ["INVALID_PARAMETERS"],
  },
  {
    method: "POST",
    path: "/v1/devices/{device}/tools/invoke",
    id: "invokeTool",
    tag: "Guide",
    summary: "Invoke a tool",
    description:
      "`id` and `stream` are for WebSockets and ignored here; `cancel_on_disconnect` is for event streams.",
    access: "caller",
    headers: CALL_HEADERS,
    body: { schema: callBodySchema, example: CALL_EXAMPLE },
    answers: { 200: answeredByGuide, 400: MALFORMED_CALL },
    errors: ["RATE_LIMITED"],
  },
  {
    method: "GET",
    path: "/tools/list",
    id: "listToolNamesAtRoot",
    tag: "Guide",
    summary: "Names of the tools, at the root",
    description: "If you have several devices and name none: 400 with the choices.",
    access: "caller",
    query: { ...AT_ROOT.query, ...FORMAT },
    headers: AT_ROOT.headers,
    answers: { 200: names },
    errors: ["INVALID_PARAMETERS", "UNKNOWN_DEVICE"],
  },
  {
    method: "POST",
    path: "/tools/invoke",
    id: "invokeToolAtRoot",
    tag: "Guide",
    summary: "Invoke a tool, at the root",
    description: "If you have several devices and name none: 400 with the choices.",
    access: "caller",
    query: AT_ROOT.query,
    headers: { ...AT_ROOT.headers, ...CALL_HEADERS },
    body: { schema: callBodySchema, example: CALL_EXAMPLE },
    answers: { 200: answeredByGuide, 400: MALFORMED_CALL },
    errors: ["UNKNOWN_DEVICE", "RATE_LIMITED"],
  },
  {
    method: "GET",
    path: "/v1/devices/{device}/calls",
    id: "listCalls",
    tag: "Calls",
    summary: "Calls of the credential's grant",
    description:
      "The owner sees the calls of all grants. Calls that can change something are listed for 24 hours; calls that only read, only while they run and if they were answered with 202. Newest first.",
    access: "caller",
    query: callQuery,
    answers: {
      200: {
        description: "Calls",
        schema: callListSchema,
        example: { device: DEVICE, calls: [LISTED_CALL_EXAMPLE], next: null },
      },
    },
    errors: ["INVALID_PARAMETERS", "RATE_LIMITED"],
  },
  {
    method: "GET",
    path: "/v1/devices/{device}/calls/{call}",
    id: "getCall",
    tag: "Calls",
    summary: "The record of a call",
    description:
      "For the grant that made the call and for the owner, for 24 hours. A call that only reads has a record only if it was answered with 202.",
    access: "caller",
    headers: { "Last-Event-ID": lastEventId },
    answers: {
      200: { description: "The record", schema: callViewSchema, example: CALL_VIEW_EXAMPLE, other: EVENTS },
      204: { description: "The reader already has the last event." },
    },
    errors: ["NOT_FOUND", "RATE_LIMITED"],
  },
  {
    method: "POST",
    path: "/v1/devices/{device}/calls/{call}/cancel",
    id: "cancelCall",
    tag: "Calls",
    summary: "Stop a call",
    access: "caller",
    answers: {
      202: {
        description: "The device was asked to stop it; the call's record shows the result.",
        schema: stoppingCallSchema,
        example: { call: CALL },
      },
    },
    errors: ["NOT_FOUND"],
  },
];
