/** Whether the relay can work, and the keys that its tokens are checked with. */
import { Hono } from "hono";
import { publicKeys } from "../auth/keys.ts";
import type { Env } from "../env.ts";

export const health = new Hono<{ Bindings: Env }>();

/** 503 without secrets: such a relay can neither sign in nor be claimed. */
health.get("/v1/health", async (c) => {
  await publicKeys(c.env);
  return c.json({ status: "ok" });
});

health.get("/.well-known/jwks.json", async (c) => {
  c.header("Cache-Control", "public, max-age=300");
  return c.json(await publicKeys(c.env));
});
