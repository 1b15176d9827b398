/** Routes for earlier calls: list them, read the record of one, stop it. */
import type { HonoRequest } from "hono";
import * as z from "zod";
import { callListSchema, callQuerySchema, callViewSchema } from "../api.ts";
import { type MatrxError, relayError } from "../errors.ts";
import { type CallId, isCallId } from "../ids.ts";
import { check } from "../json-input.ts";
import { stoppingCallSchema } from "../openapi/bodies.ts";
import { eventResponse } from "./call-response.ts";
import { CALL, CALL_VIEW_EXAMPLE, DEVICE, EVENTS, PREFER } from "./parts.ts";
import type { CallerPort, RecordingPort } from "./port.ts";
import { acceptsEventStream, waitOf } from "./request.ts";
import type { CallerRoute } from "./route.ts";

const { outcome: _, ...LISTED_CALL_EXAMPLE } = CALL_VIEW_EXAMPLE;

export const recordRoutes: readonly CallerRoute<RecordingPort>[] = [
  {
    method: "GET",
    path: "/calls",
    id: "listCalls",
    tag: "Calls",
    summary: "Calls of the credential's grant",
    description:
      "The owner sees the calls of all grants. Calls that can change something are listed for 24 hours; calls that only read, only while they run and if they were answered with 202. Newest first.",
    access: "caller",
    query: {
      state: { schema: callQuerySchema.shape.state.unwrap(), description: "Only calls in this state" },
      before: {
        schema: callQuerySchema.shape.before.unwrap(),
        description: "Only calls older than this one: `next` of the previous page",
      },
      limit: { schema: callQuerySchema.shape.limit, description: "How many at most" },
    },
    answers: {
      200: {
        description: "Calls",
        schema: callListSchema,
        example: { device: DEVICE, calls: [LISTED_CALL_EXAMPLE], next: null },
      },
    },
    errors: ["INVALID_PARAMETERS", "RATE_LIMITED"],
    answer: async (port, request) =>
      Response.json(await port.listCalls(check(callQuerySchema, request.query()))),
  },
  {
    method: "GET",
    path: "/calls/{call}",
    id: "getCall",
    tag: "Calls",
    summary: "The record of a call",
    description:
      "For the grant that made the call and for the owner, for 24 hours. A call that only reads has a record only if it was answered with 202.",
    access: "caller",
    headers: {
      Prefer: PREFER,
      "Last-Event-ID": {
        schema: z.string(),
        description: "For event streams: `end` if the reader already has the last event.",
      },
    },
    answers: {
      200: { description: "The record", schema: callViewSchema, example: CALL_VIEW_EXAMPLE, other: EVENTS },
      204: { description: "The reader already has the last event." },
    },
    errors: ["NOT_FOUND", "RATE_LIMITED"],
    answer: async (port, request) => {
      const call = callOf(request);
      if (!acceptsEventStream(request.raw)) return Response.json(await port.readCall(call));
      // 204 keeps EventSource from reconnecting.
      if (request.raw.headers.get("Last-Event-ID") === "end") return new Response(null, { status: 204 });
      return eventResponse(await port.attach(call, waitOf(request.raw)));
    },
  },
];

export const cancelRoute: CallerRoute<CallerPort> = {
  method: "POST",
  path: "/calls/{call}/cancel",
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
  errors: ["NOT_FOUND", "RATE_LIMITED"],
  answer: async (port, request) => {
    const call = callOf(request);
    await port.cancelCall(call);
    return Response.json({ call }, { status: 202 });
  },
};

function callOf(request: HonoRequest): CallId {
  const call = request.param("call") ?? "";
  if (isCallId(call)) return call;
  throw noSuchCallError();
}

export function noSuchCallError(): MatrxError {
  return relayError("NOT_FOUND", "No such call, or it isn't yours", {
    hint: "Calls that only read leave no record; others are kept for 24 hours",
  });
}
