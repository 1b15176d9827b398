/** What a device reported by itself. */
import { type EventList, eventQuerySchema } from "@matrx/shared/api.ts";
import { check } from "@matrx/shared/json-input.ts";
import { Hono } from "hono";
import { authenticate } from "../auth/caller.ts";
import type { Env } from "../env.ts";
import { ownDevice } from "../known-devices.ts";
import { type Outcome, unwrap } from "../outcome.ts";

export const events = new Hono<{ Bindings: Env }>();

events.get("/", async (c) => {
  const caller = await authenticate(c.env, c.req.raw);
  const device = await ownDevice(c.env, caller.account, c.req.param("device") ?? "");
  const query = check(eventQuerySchema, c.req.query());
  // RPC types cannot express the free fields of `data`; the object's own type can.
  return c.json(unwrap((await device.events(caller, query)) as Outcome<EventList>));
});
