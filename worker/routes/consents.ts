/** How a person lets an AI client in, at the relay's own page. */
import { AuthorizationError } from "@cloudflare/workers-oauth-provider";
import { readBody } from "@matrx/shared/caller/body.ts";
import { DEVICE } from "@matrx/shared/caller/parts.ts";
import { relayError } from "@matrx/shared/errors.ts";
import {
  answeredRequestSchema,
  clientRequestSchema,
  clientRequestViewSchema,
  newConsentSchema,
} from "@matrx/shared/oauth-api.ts";
import type { Answer } from "@matrx/shared/openapi/operation.ts";
import type { Context } from "hono";
import { CALLER_BODY } from "../body.ts";
import { answerOnce, answerTo } from "../oauth/answered.ts";
import {
  type Authorization,
  authorizationView,
  complete,
  readAuthorization,
  refused,
} from "../oauth/authorization.ts";
import { personRate } from "../oauth/client-document.ts";
import { deviceOf } from "../oauth/resource.ts";
import { unwrap } from "../outcome.ts";
import type { RelayEnv, RelayRoute } from "../route.ts";

const REQUEST =
  "response_type=code&client_id=mQx1bq2JvH8uRkZe&redirect_uri=http%3A%2F%2F127.0.0.1%3A33418%2Fcallback&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&state=af0ifjsldkj&resource=https%3A%2F%2Frelay.example%2Fmcp";
const CODE = "owner:N8kq2vWzT5rYxLpA:h7JkQ2mXv9TzRb4NcPq8Ws3LfYd6Ge1U";

const LOCATION: Answer = {
  description: "Where the page sends the browser",
  schema: answeredRequestSchema,
  example: { location: `http://127.0.0.1:33418/callback?code=${encodeURIComponent(CODE)}&state=af0ifjsldkj` },
};

export const consentRoutes: readonly RelayRoute[] = [
  {
    method: "POST",
    path: "/v1/oauth/requests",
    id: "readClientRequest",
    tag: "OAuth",
    summary: "Who asks to be let in?",
    access: "person",
    body: { schema: clientRequestSchema, example: { request: REQUEST } },
    answers: {
      200: {
        description: "What a person must know before they answer",
        schema: clientRequestViewSchema,
        example: {
          client: { id: "mQx1bq2JvH8uRkZe", name: "Some assistant", host: null },
          redirect_host: "127.0.0.1:33418",
          redirect_is_local: true,
          device: null,
          answered: null,
        },
      },
    },
    errors: ["NOT_FOUND", "RATE_LIMITED"],
    answer: async (c) => {
      const { request } = await readBody(c.req.raw, CALLER_BODY, clientRequestSchema);
      const authorization = await requested(c, request);
      const answered = await answerTo(c.env, c.var.caller.account, authorization);
      return c.json(authorizationView(authorization, answered));
    },
  },
  {
    method: "POST",
    path: "/v1/oauth/consents",
    id: "allowClient",
    tag: "OAuth",
    summary: "Let a client in",
    description:
      "Makes an AI grant for it, as `POST /v1/tokens` does, and sends its browser back with a code, once for each request. `DELETE /v1/tokens/{grant}` ends it.",
    access: "person",
    body: {
      schema: newConsentSchema,
      example: {
        request: REQUEST,
        account: "owner",
        grant: {
          name: "Some assistant",
          devices: [DEVICE],
          paths: ["~/projects"],
          effects: ["read"],
          days: 90,
        },
      },
    },
    answers: { 200: LOCATION },
    errors: ["NOT_FOUND", "UNKNOWN_DEVICE", "CONFLICT", "RATE_LIMITED"],
    answer: async (c) => {
      const { caller } = c.var;
      const body = await readBody(c.req.raw, CALLER_BODY, newConsentSchema);
      const { request, account: shown, grant: wish } = body;
      requireShown(shown, caller.account);
      const authorization = await requested(c, request);
      requireItsDevice(authorization, wish);
      const account = c.env.ACCOUNT.getByName(caller.account);
      const location = await answerOnce(
        c.env,
        caller.account,
        { authorization, answer: "allowed" },
        async () => {
          const grant = unwrap(await account.connectClient(caller.grant, wish, authorization.client));
          try {
            return await complete(c.env, authorization, grant);
          } catch (error) {
            await account.disconnectClient(grant.id);
            throw error;
          }
        },
      );
      c.header("Cache-Control", "no-store");
      return c.json({ location });
    },
  },
  {
    method: "POST",
    path: "/v1/oauth/refusals",
    id: "refuseClient",
    tag: "OAuth",
    summary: "Don't let a client in",
    access: "person",
    body: { schema: clientRequestSchema, example: { request: REQUEST } },
    answers: {
      200: { ...LOCATION, example: { location: "http://127.0.0.1:33418/callback?error=access_denied" } },
    },
    errors: ["NOT_FOUND", "CONFLICT", "RATE_LIMITED"],
    answer: async (c) => {
      const { request } = await readBody(c.req.raw, CALLER_BODY, clientRequestSchema);
      const authorization = await requested(c, request);
      const { account } = c.var.caller;
      const location = await answerOnce(c.env, account, { authorization, answer: "denied" }, async () =>
        refused(authorization),
      );
      return c.json({ location });
    },
  },
];

/** The request as it is now: the client may have changed since the page was shown. Throws MatrxError. */
async function requested(c: Context<RelayEnv>, query: string): Promise<Authorization> {
  try {
    return await readAuthorization(c.env, c.req.raw, query, personRate(c.env, c.var.caller.account));
  } catch (error) {
    if (!(error instanceof AuthorizationError)) throw error;
    throw relayError("INVALID_PARAMETERS", `The app's request is wrong: ${error.description}`, {
      hint: "Go back to the app, and connect again",
      details: { field: "request" },
    });
  }
}

/** Somebody else may have signed in to this browser since the page was shown. Throws MatrxError. */
function requireShown(shown: string | undefined, account: string): void {
  if (shown === undefined || shown === account) return;
  throw relayError("CONFLICT", `You are signed in as ${account} by now, not as ${shown}`, {
    hint: "Load the page again, and look whose machines the app would use",
    details: { field: "account" },
  });
}

/** Who asks for one device is not let in at others. Throws MatrxError. */
function requireItsDevice(
  { resource }: Authorization,
  { devices, tags }: { devices?: string[] | undefined; tags?: string[] | undefined },
): void {
  const device = deviceOf(resource);
  if (!device || (devices?.length === 1 && devices[0] === device && !tags)) return;
  throw relayError("CONFLICT", "The app asks for another device", {
    hint: `Its address names ${device}: allow exactly that one`,
    details: { field: "devices" },
  });
}
