/** The description that machines read: made when it is first asked for, kept as text. */
import { Hono } from "hono";
import type { Env } from "../env.ts";

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
