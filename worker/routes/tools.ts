/** The tools of one device: what it has, and calling them. Also the guide's base for REST. */

import type { toolDefinitionsSchema, toolNamesSchema } from "@matrx/shared/api.ts";
import { callSchema } from "@matrx/shared/caller/from-caller.ts";
import { type ErrorShape, errorInfo } from "@matrx/shared/errors.ts";
import type { DeviceId } from "@matrx/shared/ids.ts";
import { check } from "@matrx/shared/json-input.ts";
import { type ToolFormat, toolDefinition } from "@matrx/shared/tool-formats.ts";
import { Hono } from "hono";
import type * as z from "zod";
import { authenticate, type Caller } from "../auth/caller.ts";
import type { DeviceTools, OpenTools } from "../device/api.ts";
import type { GuideAnswer, RestAnswer, RestCall } from "../device/callers/rest.ts";
import { answerProblem, guideRefusal } from "../device/calls/types.ts";
import type { Env } from "../env.ts";
import { ownDevice } from "../known-devices.ts";
import type { Device } from "../objects/device.ts";
import { attempt, type Outcome, unwrap } from "../outcome.ts";
import { problemOfShape } from "../problem.ts";
import { readCallBody, readObjectText } from "./body.ts";
import { acceptsEventStream, streamCall } from "./call-stream.ts";
import { type Invocation, idempotencyKeyOf, invoke, pendingResponse } from "./invoke.ts";
import { cancelOnDisconnectOf, formatOf, timeoutOf } from "./query.ts";

export const tools = new Hono<{ Bindings: Env }>();

tools.get("/", async (c) => {
  const { caller, device, id } = await target(c.env, c.req.raw, c.req.param("device"));
  const format = formatOf(c.req.raw);
  if (format) return c.json({ device: id, ...(await definitionsOf(device, caller, format)) });
  const { hash, tools: list } = await toolsOf(device, caller);
  return c.json({ device: id, hash, tools: list });
});

const namedSchema = callSchema.pick({ tool: true });

/** Guide, List Available Tools. */
tools.get("/list", async (c) => {
  const { caller, device } = await target(c.env, c.req.raw, c.req.param("device"));
  return listTools(device, caller, c.req.raw);
});

/** Guide, Invoke a Tool. */
tools.post("/invoke", async (c) => {
  const { caller, device, id } = await target(c.env, c.req.raw, c.req.param("device"));
  return invokeByGuide(device, id, caller, c.req.raw);
});

/** The body is the tool's input; errors are problem+json. */
tools.post("/:tool", async (c) => {
  const { caller, device, id } = await target(c.env, c.req.raw, c.req.param("device"));
  const { tool } = check(namedSchema, { tool: c.req.param("tool") });
  const input = await readObjectText(c.req.raw);
  const options = { timeoutMs: timeoutOf(c.req.raw), key: idempotencyKeyOf(c.req.raw) };
  const wanted = { tool, input, ...options };
  const cancelOnDisconnect = cancelOnDisconnectOf(c.req.raw);
  if (!acceptsEventStream(c.req.raw)) {
    const send = (call: RestCall) => device.call(caller, call) as Promise<Outcome<RestAnswer>>;
    return toolResponse(id, await invoke(device, caller, c.req.raw, wanted, send));
  }
  return streamCall(device, caller, c.req.raw, { ...wanted, cancelOnDisconnect });
});

/** RPC types cannot express JSON Schema; the object's own type can. */
async function toolsOf(device: DurableObjectStub<Device>, caller: Caller): Promise<DeviceTools> {
  return unwrap((await device.tools(caller)) as Outcome<DeviceTools>);
}

async function target(env: Env, request: Request, id: string | undefined) {
  const caller = await authenticate(env, request);
  return { caller, device: await ownDevice(env, caller.account, id ?? ""), id: id ?? "" };
}

/** What this caller may call, as models know it. Throws MatrxError. */
export async function openToolsOf(device: DurableObjectStub<Device>, caller: Caller): Promise<OpenTools> {
  return unwrap((await device.openTools(caller)) as Outcome<OpenTools>);
}

async function definitionsOf(
  device: DurableObjectStub<Device>,
  caller: Caller,
  format: ToolFormat,
): Promise<Omit<z.infer<typeof toolDefinitionsSchema>, "device">> {
  const { hash, tools: open } = await openToolsOf(device, caller);
  return { hash, format, tools: open.map((tool) => toolDefinition(tool, format)) };
}

/** Names only (guide, List Available Tools), or definitions in the format that was asked for. */
export async function listTools(
  device: DurableObjectStub<Device>,
  caller: Caller,
  request: Request,
): Promise<Response> {
  const format = formatOf(request);
  if (format) return Response.json(await definitionsOf(device, caller, format));
  const { names } = await toolsOf(device, caller);
  return Response.json({ tools: names } satisfies z.infer<typeof toolNamesSchema>);
}

/**
 * 200 with `type: "error"` for what the tool or the device could not do (guide, Invoke a Tool); 400 in the same shape for a
 * body that is not a call.
 */
export async function invokeByGuide(
  device: DurableObjectStub<Device>,
  id: string,
  caller: Caller,
  request: Request,
): Promise<Response> {
  const body = await attempt(() => readCallBody(request));
  if (!body.ok) return malformedCall(body.error, id, request);
  const { tool, input, timeout_ms, idempotency_key, cancel_on_disconnect } = body.value;
  const options = { timeoutMs: timeout_ms, key: idempotency_key ?? idempotencyKeyOf(request) };
  const wanted = { tool, input: JSON.stringify(input), ...options };
  if (acceptsEventStream(request))
    return streamCall(device, caller, request, { ...wanted, cancelOnDisconnect: cancel_on_disconnect });
  const send = (call: RestCall) => device.callByGuide(caller, call) as Promise<Outcome<GuideAnswer>>;
  const { answer, headers } = await invoke(device, caller, request, wanted, send);
  headers["Content-Type"] = "application/json";
  // Proxies such as nginx hold white space back otherwise.
  if (answer.kind === "begun") headers["X-Accel-Buffering"] = "no";
  if (answer.kind !== "refused") return new Response(answer.body, { headers });
  return new Response(JSON.stringify(guideRefusal(answer.error, answer.call, id as DeviceId)), { headers });
}

/** A guide client looks for `type`. Any other fault, and any on a request for events, is answered as problem+json. */
function malformedCall(error: ErrorShape, device: string, request: Request): Response {
  const { status } = errorInfo(error.code);
  if (status !== 400 || acceptsEventStream(request)) return problemOfShape(error);
  return Response.json(guideRefusal(error, undefined, device as DeviceId), {
    status,
    headers: { "Cache-Control": "no-store" },
  });
}

async function toolResponse(device: string, { answer, headers }: Invocation<RestAnswer>): Promise<Response> {
  if (answer.kind === "pending") return pendingResponse(device, answer.call, headers);
  if (answer.kind === "refused")
    return withHeaders(problemOfShape(answer.error, { call: answer.call, device }), headers);
  if (answer.status === "success") {
    headers["Content-Type"] = "application/json";
    return new Response(answer.body, { headers });
  }
  const { error, extra } = answerProblem(answer.code, await new Response(answer.body).bytes());
  return withHeaders(problemOfShape(error, extra), headers);
}

function withHeaders(response: Response, headers: Record<string, string>): Response {
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}
