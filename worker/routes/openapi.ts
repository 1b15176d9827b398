/** The description that machines read: made when it is first asked for, kept as text. */

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

export const openapi = new Hono<{ Bindings: Env }>();

let text: Promise<string> | undefined;

openapi.get("/openapi.json", async (c) => {
  text ??= makeText();
  c.header("Content-Type", "application/json");
  c.header("Cache-Control", "no-cache");
  return c.body(await text);
});

/** Loaded late, so that the tables and the schemas' conversion cost a start nothing. */
async function makeText(): Promise<string> {
  const { relayDocument } = await import("../openapi/relay.ts");
  return JSON.stringify(relayDocument());
}
