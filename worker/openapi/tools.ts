/** The tools of a device, calling them, and the record of a call. */
import { callViewSchema, deviceToolsSchema, toolNamesSchema } from "@matrx/shared/api.ts";
import {
  answerSchema,
  callBodySchema,
  stoppingCallSchema,
  toolInputSchema,
} from "@matrx/shared/openapi/bodies.ts";
import { ANSWER_EXAMPLE, CALL_EXAMPLE, timeoutMs } from "@matrx/shared/openapi/call-parts.ts";
import type { Answer, Operation, Parameter } from "@matrx/shared/openapi/operation.ts";
import { DEVICE_HEADER } from "@matrx/shared/tokens.ts";
import {
  ANSWER_HEADERS,
  CALL,
  CALL_ERRORS,
  CALL_HEADERS,
  CALL_VIEW_EXAMPLE,
  DEVICE,
  PATH,
  PENDING,
} from "./parts.ts";

const names: Answer = {
  description: "Names only",
  schema: toolNamesSchema,
  example: { tools: ["Bash", "ListDirectory", "Read"] },
};

const answered: Answer = {
  description: "What the tool said. A command that ends with another exit code than 0 is a success too.",
  schema: answerSchema,
  example: ANSWER_EXAMPLE,
  headers: ANSWER_HEADERS,
};

const answeredByGuide: Answer = {
  ...answered,
  description:
    'What the tool said; with `"type": "error"` also what it could not do, or what refused the call.',
};

const which = (name: string): Parameter => ({
  ...PATH.device,
  description: `The device; without it, and without ${name}, the only device of the credential.`,
});
const AT_ROOT = {
  query: { device: which(DEVICE_HEADER) },
  headers: { [DEVICE_HEADER]: which("`?device=`") },
};

export const toolOperations: readonly Operation[] = [
  {
    method: "GET",
    path: "/v1/devices/{device}/tools",
    id: "listTools",
    tag: "Tools",
    summary: "Tools with their schemas",
    description: "As the device announced them when it was last here.",
    access: "caller",
    answers: {
      200: {
        description: "Each tool with description, effect and the JSON Schema of its input",
        schema: deviceToolsSchema,
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
      "The body is the tool's input. Errors are problem+json with the status of their code; they carry `output`, `call` and `device` besides.",
    access: "caller",
    query: { timeout_ms: timeoutMs },
    headers: CALL_HEADERS,
    body: { schema: toolInputSchema, example: { command: "make test" }, optional: true },
    answers: { 200: answered, 202: PENDING },
    errors: CALL_ERRORS,
  },
  {
    method: "GET",
    path: "/v1/devices/{device}/tools/list",
    id: "listToolNames",
    tag: "Guide",
    summary: "Names of the tools",
    access: "caller",
    answers: { 200: names },
  },
  {
    method: "POST",
    path: "/v1/devices/{device}/tools/invoke",
    id: "invokeTool",
    tag: "Guide",
    summary: "Invoke a tool",
    description: "`id`, `stream` and `cancel_on_disconnect` are for WebSockets and not looked at.",
    access: "caller",
    headers: CALL_HEADERS,
    body: { schema: callBodySchema, example: CALL_EXAMPLE },
    answers: { 200: answeredByGuide, 202: PENDING },
    errors: ["RATE_LIMITED"],
  },
  {
    method: "GET",
    path: "/tools/list",
    id: "listToolNamesAtRoot",
    tag: "Guide",
    summary: "Names of the tools of the device named elsewhere",
    description: "With several devices and none named: 400 with the choices.",
    access: "caller",
    ...AT_ROOT,
    answers: { 200: names },
    errors: ["INVALID_PARAMETERS", "UNKNOWN_DEVICE"],
  },
  {
    method: "POST",
    path: "/tools/invoke",
    id: "invokeToolAtRoot",
    tag: "Guide",
    summary: "Invoke a tool of the device named elsewhere",
    description: "With several devices and none named: 400 with the choices.",
    access: "caller",
    query: AT_ROOT.query,
    headers: { ...AT_ROOT.headers, ...CALL_HEADERS },
    body: { schema: callBodySchema, example: CALL_EXAMPLE },
    answers: { 200: answeredByGuide, 202: PENDING },
    errors: ["UNKNOWN_DEVICE", "RATE_LIMITED"],
  },
  {
    method: "GET",
    path: "/v1/devices/{device}/calls/{call}",
    id: "getCall",
    tag: "Calls",
    summary: "The record of a call",
    description:
      "For the grant that made it and for the owner, for 24 hours. A call that only reads has one if its caller was sent away with 202.",
    access: "caller",
    answers: { 200: { description: "The record", schema: callViewSchema, example: CALL_VIEW_EXAMPLE } },
    errors: ["NOT_FOUND"],
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
        description: "The device was asked; the call's record says what came of it.",
        schema: stoppingCallSchema,
        example: { call: CALL },
      },
    },
    errors: ["NOT_FOUND"],
  },
];
