/** Routes for the tools of one device: listing and calling them. */
import type { HonoRequest } from "hono";
import * as z from "zod";
import { deviceToolsSchema, toolDefinitionsSchema } from "../api.ts";
import { ERROR_CODES, type ErrorShape } from "../errors.ts";
import { check } from "../json-input.ts";
import { toolInputSchema } from "../openapi/bodies.ts";
import type { Operation } from "../openapi/operation.ts";
import { systemPrompt } from "../system-prompt.ts";
import type { Family } from "../tool-families.ts";
import { type ToolFormat, toolDefinition } from "../tool-formats.ts";
import { readObjectText } from "./body.ts";
import { answerHeaders, bytesResponse, eventResponse, pendingCall } from "./call-response.ts";
import { answerProblem } from "./error-answer.ts";
import { callSchema } from "./from-caller.ts";
import {
  ANSWER_EXAMPLE,
  ANSWER_HEADERS,
  CALL_HEADERS,
  DEVICE,
  EVENTS,
  FORMAT,
  PREFER,
  TOOLS,
  timeoutMs,
} from "./parts.ts";
import type { CallerPort, Ending, RestAnswer, WantedCall } from "./port.ts";
import { problemOfShape } from "./problem.ts";
import {
  acceptsEventStream,
  cancelOnDisconnectOf,
  familiesOf,
  formatOf,
  idempotencyKeyOf,
  newCall,
  timeoutOf,
  waitOf,
} from "./request.ts";
import type { CallerRoute } from "./route.ts";
import { answerSchema, type Answer as CallerAnswer } from "./to-caller.ts";

const namedSchema = callSchema.pick({ tool: true });

/** `later`: the extra answers of a host that does not wait for the end of every call. */
export const toolRoutes = (later: Operation["answers"]): CallerRoute<CallerPort>[] => [
  {
    method: "GET",
    path: "/system-prompt",
    id: "getSystemPrompt",
    tag: "Tools",
    summary: "What to tell a model about the device and its tools",
    description:
      "The guide's recommended addition to a system prompt, with the tools that the credential may call.",
    access: "caller",
    query: { tools: TOOLS },
    errors: ["INVALID_PARAMETERS"],
    answers: { 200: { description: "The text", other: { "text/plain; charset=utf-8": "The text" } } },
    answer: async (port, { raw }) => {
      const { machine, tools } = await port.openTools({ families: familiesOf(raw) });
      const headers = { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" };
      return new Response(systemPrompt(machine, tools), { headers });
    },
  },
  {
    method: "GET",
    path: "/tools",
    id: "listTools",
    tag: "Tools",
    summary: "Tools with their schemas",
    description:
      "Those that the caller's grant and the relay's policy allow, as the device last reported them; `effect` is what the gate treats each as.",
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
    answer: async (port, { raw }) => {
      const { device } = port;
      const [format, families] = [formatOf(raw), familiesOf(raw)];
      if (format) return Response.json({ device, ...(await definitionsOf(port, format, families)) });
      const { hash, tools } = await port.tools();
      return Response.json({ device, hash, tools });
    },
  },
  {
    method: "POST",
    path: "/tools/{tool}",
    id: "callTool",
    tag: "Tools",
    summary: "Call a tool",
    description:
      "The body is the tool's input. Errors are problem+json with the status of their code; they also have `output`, `call` and `device`.",
    access: "caller",
    query: {
      timeout_ms: timeoutMs,
      cancel_on_disconnect: {
        schema: z.enum(["true", "false"]),
        description:
          "For event streams: also stop a call that changes something when its reader disconnects.",
      },
    },
    headers: { ...CALL_HEADERS, Prefer: PREFER },
    body: { schema: toolInputSchema, example: { command: "make test" }, optional: true },
    answers: {
      200: {
        description: "The tool's answer. A command that exits with a nonzero code is also a success.",
        schema: answerSchema,
        example: ANSWER_EXAMPLE,
        other: EVENTS,
        headers: ANSWER_HEADERS,
      },
      ...later,
    },
    // Any error, since a call may fail in the relay, the agent or the tool.
    errors: ERROR_CODES,
    answer: callTool,
  },
];

/** Model definitions of the tools that this caller may call. Rejects with MatrxError. */
export async function definitionsOf(
  port: CallerPort,
  format: ToolFormat,
  families: readonly Family[] | undefined,
): Promise<Omit<z.infer<typeof toolDefinitionsSchema>, "device">> {
  const { hash, tools } = await port.openTools({ families });
  return { hash, format, tools: tools.map((tool) => toolDefinition(tool, format)) };
}

/** Not an async function, which would keep the input, perhaps megabytes, until the answer. */
function callTool(port: CallerPort, request: HonoRequest): Promise<Response> {
  return wantedCall(port, request).then((wanted) => {
    const { session } = wanted;
    return acceptsEventStream(request.raw)
      ? port.streamCall(wanted).then((opened) => eventResponse(opened, session))
      : port.call(wanted).then((ending) => answerResponse(port, ending, session));
  });
}

async function wantedCall(port: CallerPort, request: HonoRequest): Promise<WantedCall> {
  const { raw } = request;
  const { tool } = check(namedSchema, { tool: request.param("tool") });
  const input = await readObjectText(raw, port.body);
  return {
    ...{ tool, input, timeoutMs: timeoutOf(raw), key: idempotencyKeyOf(raw) },
    cancelOnDisconnect: cancelOnDisconnectOf(raw),
    waitMs: waitOf(raw),
    ...newCall(raw),
  };
}

/** The response to a call by REST. */
export function answerResponse(
  port: Pick<CallerPort, "device">,
  ending: RestAnswer,
  session: string | undefined,
): Response | Promise<Response> {
  const headers = answerHeaders(ending.call, session);
  return ending.kind === "pending" ? pendingResponse(port, ending, headers) : response(port, ending, headers);
}

async function response(
  { device }: Pick<CallerPort, "device">,
  ending: Ending,
  headers: Record<string, string>,
) {
  if (ending.kind === "refused") return withHeaders(refusalProblem(ending, device), headers);
  if (ending.status === "success") {
    headers["Content-Type"] = "application/json";
    return bytesResponse(ending.body, headers);
  }
  const answer = (await bytesResponse(ending.body).json()) as CallerAnswer;
  const { error, extra } = answerProblem(ending.code, answer);
  return withHeaders(problemOfShape(error, extra), headers);
}

/** A refusal in the same shape as a tool's error. */
function refusalProblem({ error, call }: { error: ErrorShape; call: string }, device: string): Response {
  const { message: output, details } = error;
  return problemOfShape(error, { output, call, device, ...(details && { metadata: details }) });
}

/** 202: the call continues, or waits for a person; its outcome will be at this URL. */
function pendingResponse(
  { device }: Pick<CallerPort, "device">,
  { call, approval, body: written }: Extract<RestAnswer, { kind: "pending" }>,
  headers: Record<string, string>,
) {
  const body = pendingCall(call, device, approval);
  headers.Location = body.url;
  headers["Content-Type"] = "application/json";
  return new Response((written ?? JSON.stringify(body)) as ConstructorParameters<typeof Response>[0], {
    status: 202,
    headers,
  });
}

function withHeaders(response: Response, headers: Record<string, string>): Response {
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}
