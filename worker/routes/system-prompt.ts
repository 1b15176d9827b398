/** What a model is told of a device (guide, Recommended AI System Prompt Addition). */
import { systemPrompt as promptOf } from "@matrx/shared/system-prompt.ts";
import { Hono } from "hono";
import { authenticate } from "../auth/caller.ts";
import type { Env } from "../env.ts";
import { ownDevice } from "../known-devices.ts";
import { openToolsOf } from "./tools.ts";

export const systemPrompt = new Hono<{ Bindings: Env }>();

systemPrompt.get("/", async (c) => {
  const caller = await authenticate(c.env, c.req.raw);
  const device = await ownDevice(c.env, caller.account, c.req.param("device") ?? "");
  const { machine, tools } = await openToolsOf(device, caller);
  const headers = { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" };
  return new Response(promptOf(machine, tools), { headers });
});
