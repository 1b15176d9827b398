/** Tokens and other grants of an account; person sessions only. */
import { readBody } from "@matrx/shared/caller/body.ts";
import { DEVICE } from "@matrx/shared/caller/parts.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import type { Parameter } from "@matrx/shared/openapi/operation.ts";
import {
  changedTokenSchema,
  createdTokenSchema,
  newTokenSchema,
  type TokenView,
  tokenDetailsSchema,
  tokenListSchema,
} from "@matrx/shared/token-api.ts";
import * as z from "zod";
import { issueToken } from "../access/lasting-tokens.ts";
import { CALLER_BODY } from "../body.ts";
import { unwrap } from "../outcome.ts";
import type { RelayRoute } from "../route.ts";

const GRANT = "grant_4k7m2x9qpatr6w1z";

/** In paths. */
export const GRANT_PARAMETER: Parameter = {
  schema: z.string(),
  description: "A token's id, as `GET /v1/tokens` lists it",
  example: GRANT,
};

export const TOKEN_VIEW: TokenView = {
  id: GRANT,
  name: "coding assistant",
  kind: "api",
  credential: "ai",
  access: "full",
  summary:
    "may read, write and run commands in /home/ann/projects on laptop; asks before it writes or runs commands; expires 2026-04-01",
  devices: [DEVICE],
  tags: null,
  paths: ["/home/ann/projects"],
  denied_paths: null,
  secrets: "closed",
  tools: null,
  effects: ["read", "write", "execute"],
  ask: [{ effects: ["write", "execute"] }],
  network: null,
  version: 1,
  created: "2026-01-01T09:00:00.000Z",
  expires: "2026-04-01T09:00:00.000Z",
};

const TOKEN_DETAILS = {
  ...TOKEN_VIEW,
  devices_holding: 1,
  devices_acknowledged: 1,
  holders: [{ device: DEVICE, acknowledged: true }],
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
    summary: "Create a token",
    description:
      'Of an AI grant, or with `credential: "script"` of an own script token, which acts as you. The token is shown only once; the relay stores only its permissions.',
    access: "person",
    body: {
      schema: newTokenSchema,
      example: { name: "coding assistant", devices: [DEVICE], paths: ["/home/ann/projects"], days: 90 },
    },
    answers: {
      201: {
        description: "The token",
        schema: createdTokenSchema,
        example: { token: "eyJhbGciOiJFZERTQSJ9.e30.c2ln", ...TOKEN_VIEW },
      },
    },
    errors: ["UNKNOWN_DEVICE", "CONFLICT", "RATE_LIMITED"],
    answer: async (c) => {
      const { caller } = c.var;
      const wish = await readBody(c.req.raw, CALLER_BODY, newTokenSchema);
      const account = c.env.ACCOUNT.getByName(caller.account);
      const { grant, view, warning } = unwrap(await account.createToken(caller.grant, wish));
      const token = await issueToken(c.env, grant);
      c.header("Cache-Control", "no-store");
      return c.json({ token, ...(warning && { warning }), ...view }, 201);
    },
  },
  {
    method: "GET",
    path: "/v1/tokens/{grant}",
    id: "getToken",
    tag: "Tokens",
    summary: "One grant",
    description: "And how many of the devices that hold it have confirmed its newest version.",
    access: "person",
    answers: {
      200: { description: "The grant", schema: tokenDetailsSchema, example: TOKEN_DETAILS },
    },
    errors: ["NOT_FOUND"],
    answer: async (c) => {
      const { caller } = c.var;
      const token = c.req.param("grant") as GrantId;
      return c.json(unwrap(await c.env.ACCOUNT.getByName(caller.account).readToken(caller.grant, token)));
    },
  },
  {
    method: "PATCH",
    path: "/v1/tokens/{grant}",
    id: "changeToken",
    tag: "Tokens",
    summary: "Narrow or widen a token",
    description:
      "Open connections continue under the new limits; calls that they no longer allow are stopped. A device that can't be reached is told later. An AI grant never becomes the owner's.",
    access: "person",
    body: {
      schema: changedTokenSchema,
      example: { effects: ["read"], tools: null, days: 7 },
      optional: true,
    },
    answers: {
      200: { description: "The grant as it is now", schema: tokenDetailsSchema, example: TOKEN_DETAILS },
    },
    errors: ["NOT_FOUND", "UNKNOWN_DEVICE", "CONFLICT"],
    answer: async (c) => {
      const { caller } = c.var;
      const token = c.req.param("grant") as GrantId;
      const change = await readBody(c.req.raw, CALLER_BODY, changedTokenSchema);
      const account = c.env.ACCOUNT.getByName(caller.account);
      return c.json(unwrap(await account.changeToken(caller.grant, token, change)));
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
