/** API tokens and other grants of an account; person sessions only. */
import { newTokenSchema } from "@matrx/shared/api.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import { AUDIENCE } from "@matrx/shared/tokens.ts";
import { Hono } from "hono";
import { tokenView } from "../account/views.ts";
import { authenticate } from "../auth/caller.ts";
import { signToken } from "../auth/keys.ts";
import type { Env } from "../env.ts";
import { unwrap } from "../outcome.ts";
import { readBody } from "./body.ts";

export const tokens = new Hono<{ Bindings: Env }>();

tokens.get("/", async (c) => {
  const caller = await authenticate(c.env, c.req.raw);
  return c.json({ tokens: unwrap(await c.env.ACCOUNT.getByName(caller.account).listTokens(caller.grant)) });
});

/** The token is shown this once; the relay keeps only its grant. */
tokens.post("/", async (c) => {
  const caller = await authenticate(c.env, c.req.raw);
  const wish = await readBody(c.req.raw, newTokenSchema);
  const grant = unwrap(await c.env.ACCOUNT.getByName(caller.account).createToken(caller.grant, wish));
  const names = { account: caller.account, subject: grant.id, id: crypto.randomUUID() };
  const token = await signToken(
    c.env,
    AUDIENCE.caller,
    names,
    Math.floor((grant.expires - Date.now()) / 1000),
  );
  c.header("Cache-Control", "no-store");
  return c.json({ token, ...tokenView(grant) }, 201);
});

tokens.delete("/:grant", async (c) => {
  const caller = await authenticate(c.env, c.req.raw);
  const revoked = c.req.param("grant") as GrantId;
  unwrap(await c.env.ACCOUNT.getByName(caller.account).revokeToken(caller.grant, revoked));
  return c.body(null, 204);
});
