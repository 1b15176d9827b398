/** The guide's REST routes of one device: list the tools, invoke one. */
import type { HonoRequest } from "hono";
import * as z from "zod";
import { toolDefinitionsSchema, toolNamesSchema } from "../api.ts";
import { type ErrorShape, errorInfo, MatrxError } from "../errors.ts";
import { readCallBody } from "./body.ts";
import { answerHeaders, bytesResponse, eventResponse } from "./call-response.ts";
import { errorAnswer } from "./error-answer.ts";
import type { Call } from "./from-caller.ts";
import { callBodySchema } from "./from-caller.ts";
import {
  ANSWER_EXAMPLE,
  ANSWER_HEADERS,
  CALL_EXAMPLE,
  CALL_HEADERS,
  EVENTS,
  FORMAT,
  MALFORMED_CALL,
} from "./parts.ts";
import type { CallerPort, GuideAnswer, WantedCall } from "./port.ts";
import { problemOfShape } from "./problem.ts";
import { acceptsEventStream, familiesOf, formatOf, idempotencyKeyOf, newCall } from "./request.ts";
import type { CallerRoute } from "./route.ts";
import { answerSchema } from "./to-caller.ts";
import { definitionsOf } from "./tools.ts";

export const guideRoutes: readonly CallerRoute<CallerPort>[] = [
  {
    method: "GET",
    path: "/tools/list",
    id: "listToolNames",
    tag: "Guide",
    summary: "Names of the tools",
    access: "caller",
    query: FORMAT,
    answers: {
      200: {
        description: "Names only; with `?format=` definitions for models",
        schema: z.union([toolNamesSchema, toolDefinitionsSchema]),
        example: { tools: ["Bash", "ListDirectory", "Read"] },
      },
    },
    errors: ["INVALID_PARAMETERS"],
    answer: async (port, { raw }) => {
      const format = formatOf(raw);
      if (format) return Response.json(await definitionsOf(port, format, familiesOf(raw)));
      return Response.json({ tools: await port.toolNames() } satisfies z.infer<typeof toolNamesSchema>);
    },
  },
  {
    method: "POST",
    path: "/tools/invoke",
    id: "invokeTool",
    tag: "Guide",
    summary: "Invoke a tool",
    description:
      "`id` and `stream` are for WebSockets and ignored here; `cancel_on_disconnect` is for event streams.",
    access: "caller",
    headers: CALL_HEADERS,
    body: { schema: callBodySchema, example: CALL_EXAMPLE },
    answers: {
      200: {
        description:
          'The tool\'s answer; with `"type": "error"`, why it failed or was refused. While the call runs, white space before the JSON keeps the connection alive.',
        schema: answerSchema,
        example: ANSWER_EXAMPLE,
        other: EVENTS,
        headers: ANSWER_HEADERS,
      },
      400: MALFORMED_CALL,
    },
    errors: ["RATE_LIMITED"],
    answer: invoke,
  },
];

/**
 * Answers 200 with `type: "error"` if the tool or the device failed (guide, Invoke a Tool), and 400 in the same shape for
 * a body that is not a call. Not an async function, which would keep the input until the answer.
 */
function invoke(port: CallerPort, { raw }: HonoRequest): Promise<Response> {
  return readCallBody(raw, port.body).then(
    (body) => {
      const wanted = wantedCall(body, raw);
      const { session } = wanted;
      return acceptsEventStream(raw)
        ? port.streamCall(wanted).then((opened) => eventResponse(opened, session))
        : port.callByGuide(wanted).then((answer) => response(port, answer, session));
    },
    (error: unknown) => {
      if (error instanceof MatrxError) return malformedCall(port, { ...error.shape(), hop: port.hop }, raw);
      throw error;
    },
  );
}

function wantedCall(
  { tool, input, timeout_ms, idempotency_key, cancel_on_disconnect }: Call,
  request: Request,
): WantedCall {
  return {
    ...{ tool, input: JSON.stringify(input), timeoutMs: timeout_ms },
    ...{ key: idempotency_key ?? idempotencyKeyOf(request), cancelOnDisconnect: cancel_on_disconnect },
    ...newCall(request),
  };
}

function response(port: CallerPort, answer: GuideAnswer, session: WantedCall["session"]): Response {
  const headers = answerHeaders(answer.call, session);
  headers["Content-Type"] = "application/json";
  // Otherwise proxies such as nginx buffer the whitespace.
  if (answer.kind === "begun") headers["X-Accel-Buffering"] = "no";
  if (answer.kind !== "refused") return bytesResponse(answer.body, headers);
  return new Response(JSON.stringify(errorAnswer(answer.error, { call: answer.call, device: port.device })), {
    headers,
  });
}

/** A guide client looks for `type`. Any other error, and any on a request for events, is answered as problem+json. */
function malformedCall({ device }: CallerPort, error: ErrorShape, request: Request): Response {
  const { status } = errorInfo(error.code);
  if (status !== 400 || acceptsEventStream(request)) return problemOfShape(error);
  return Response.json(errorAnswer(error, { device }), {
    status,
    headers: { "Cache-Control": "no-store" },
  });
}
