/** API tokens and other grants of an account; person sessions only. */
import { createdTokenSchema, newTokenSchema, tokenListSchema } from "@matrx/shared/api.ts";
import { readBody } from "@matrx/shared/caller/body.ts";
import { DEVICE } from "@matrx/shared/caller/parts.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import type { Parameter } from "@matrx/shared/openapi/operation.ts";
import { AUDIENCE } from "@matrx/shared/tokens.ts";
import * as z from "zod";
import { tokenView } from "../account/views.ts";
import { signToken } from "../auth/keys.ts";
import { unwrap } from "../outcome.ts";
import { CALLER_BODY } from "./body.ts";
import type { RelayRoute } from "./route.ts";

const GRANT = "grant_4k7m2x9qpatr6w1z";

/** In paths. */
export const GRANT_PARAMETER: Parameter = {
  schema: z.string(),
  description: "A token's id, as `GET /v1/tokens` lists it",
  example: GRANT,
};

const TOKEN_VIEW = {
  id: GRANT,
  name: "backup script",
  kind: "api",
  access: "read",
  devices: [DEVICE],
  paths: ["/home/ann/documents"],
  created: "2026-01-01T09:00:00.000Z",
  expires: "2026-04-01T09:00:00.000Z",
};

export const tokensRoutes: readonly RelayRoute[] = [
  {
    method: "GET",
    path: "/v1/tokens",
    id: "listTokens",
    tag: "Tokens",
    summary: "List all grants of the account",
    access: "person",
    answers: {
      200: {
        description: "Tokens, browsers and command lines",
        schema: tokenListSchema,
        example: { tokens: [TOKEN_VIEW] },
      },
    },
    answer: async (c) => {
      const { caller } = c.var;
      return c.json({
        tokens: unwrap(await c.env.ACCOUNT.getByName(caller.account).listTokens(caller.grant)),
      });
    },
  },
  {
    method: "POST",
    path: "/v1/tokens",
    id: "createToken",
    tag: "Tokens",
    summary: "Create an API token",
    description: "The token is shown only once; the relay stores only its permissions.",
    access: "person",
    body: {
      schema: newTokenSchema,
      example: {
        name: "backup script",
        access: "read",
        devices: [DEVICE],
        paths: ["/home/ann/documents"],
        days: 90,
      },
    },
    answers: {
      201: {
        description: "The token",
        schema: createdTokenSchema,
        example: { token: "eyJhbGciOiJFZERTQSJ9.e30.c2ln", ...TOKEN_VIEW },
      },
    },
    errors: ["UNKNOWN_DEVICE", "CONFLICT"],
    answer: async (c) => {
      const { caller } = c.var;
      const wish = await readBody(c.req.raw, CALLER_BODY, newTokenSchema);
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
    },
  },
  {
    method: "DELETE",
    path: "/v1/tokens/{grant}",
    id: "revokeToken",
    tag: "Tokens",
    summary: "Revoke a token",
    description: "Closes its connections and stops its calls.",
    access: "person",
    answers: { 204: { description: "Revoked" } },
    errors: ["NOT_FOUND"],
    answer: async (c) => {
      const { caller } = c.var;
      const revoked = c.req.param("grant") as GrantId;
      unwrap(await c.env.ACCOUNT.getByName(caller.account).revokeToken(caller.grant, revoked));
      return c.body(null, 204);
    },
  },
];
