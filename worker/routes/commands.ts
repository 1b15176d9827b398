/** Commands to a device's program; person sessions only. */
import { type commandedSchema, newCommandSchema } from "@matrx/shared/api.ts";
import { Hono } from "hono";
import type * as z from "zod";
import { authenticate } from "../auth/caller.ts";
import type { Env } from "../env.ts";
import { ownDevice } from "../known-devices.ts";
import { unwrap } from "../outcome.ts";
import { readBody } from "./body.ts";

export const commands = new Hono<{ Bindings: Env }>();

/** 202: the device's connection has it; whether the program obeyed, its state tells. */
commands.post("/", async (c) => {
  const caller = await authenticate(c.env, c.req.raw);
  const id = c.req.param("device") ?? "";
  const device = await ownDevice(c.env, caller.account, id);
  unwrap(await c.env.ACCOUNT.getByName(caller.account).requirePerson(caller.grant));
  const { command, reason } = await readBody(c.req.raw, newCommandSchema);
  unwrap(await device.command(caller, command, reason));
  return c.json({ device: id, command } satisfies z.infer<typeof commandedSchema>, 202);
});
