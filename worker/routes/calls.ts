/** Calls: their list, the record of one, and stopping it. */
import { callQuerySchema } from "@matrx/shared/api.ts";
import { isCallId } from "@matrx/shared/ids.ts";
import { check } from "@matrx/shared/json-input.ts";
import { Hono } from "hono";
import { authenticate } from "../auth/caller.ts";
import { noSuchCallError } from "../device/callers/rest.ts";
import type { Env } from "../env.ts";
import { ownDevice } from "../known-devices.ts";
import { unwrap } from "../outcome.ts";
import { acceptsEventStream, attachToCall } from "./call-stream.ts";

export const calls = new Hono<{ Bindings: Env }>();

/** A grant's own, the owner sees all; the newest first. */
calls.get("/", async (c) => {
  const caller = await authenticate(c.env, c.req.raw);
  const device = await ownDevice(c.env, caller.account, c.req.param("device") ?? "");
  const query = check(callQuerySchema, c.req.query());
  return c.json(unwrap(await device.listCalls(caller, query)));
});

calls.get("/:call", async (c) => {
  const { caller, device, call } = await target(c.env, c.req.raw, c.req.param());
  if (acceptsEventStream(c.req.raw)) return attachToCall(device, caller, c.req.raw, call);
  return c.json(unwrap(await device.readCall(caller, call)));
});

/** 202: the device was asked; the call's record says what came of it. */
calls.post("/:call/cancel", async (c) => {
  const { caller, device, call } = await target(c.env, c.req.raw, c.req.param());
  unwrap(await device.cancelCall(caller, call));
  return c.json({ call }, 202);
});

async function target(env: Env, request: Request, params: { device?: string; call?: string }) {
  const caller = await authenticate(env, request);
  const device = await ownDevice(env, caller.account, params.device ?? "");
  const call = params.call ?? "";
  if (!isCallId(call)) throw noSuchCallError();
  return { caller, device, call };
}
