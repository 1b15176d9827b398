import { DEVICE } from "@matrx/shared/caller/parts.ts";
import { MatrxError, relayError } from "@matrx/shared/errors.ts";
import {
  authorizationServerSchema,
  issuedTokensSchema,
  oauthErrorSchema,
  protectedResourceSchema,
  registeredClientSchema,
} from "@matrx/shared/oauth-api.ts";
import type { Answer } from "@matrx/shared/openapi/operation.ts";
import { CONSENT_PATH } from "@matrx/shared/pages.ts";
import type { Context } from "hono";
import { requireAnonymousRate } from "../access/anonymous-rate-limit.ts";
import { countRefusal } from "../access/refused-credentials.ts";
import { unauthenticated } from "../auth/keys.ts";
import { readAuthorization } from "../oauth/authorization.ts";
import { visitorRate } from "../oauth/client-document.ts";
import { errorPage } from "../oauth/error-page.ts";
import { protectedResource, withDocuments } from "../oauth/metadata.ts";
import { authorizationServer, issuerOfRequest, oauthEnv } from "../oauth/server.ts";
import { answerRegistration, answerTokenRequest } from "../oauth/token-request.ts";
import type { RelayEnv, RelayRoute } from "../route.ts";
import { appPage } from "./page.ts";

const ORIGIN = "https://relay.example";
const WRONG: Answer = {
  description: "RFC 6749, section 5.2",
  schema: oauthErrorSchema,
  example: { error: "invalid_grant", error_description: "Invalid authorization code" },
};

const resourceRoute = (path: string, id: string, of: string): RelayRoute => ({
  method: "GET",
  path: `/.well-known/oauth-protected-resource${path}`,
  id,
  tag: "OAuth",
  summary: `Where do clients of ${of} sign in?`,
  description: "Protected resource metadata (RFC 9728). It doesn't tell whether a device exists.",
  access: "anyone",
  answers: {
    200: {
      description: "The metadata",
      schema: protectedResourceSchema,
      example: {
        resource: `${ORIGIN}/mcp${path.includes("{device}") ? `/d/${DEVICE}` : ""}`,
        authorization_servers: [ORIGIN],
        scopes_supported: ["mcp"],
        bearer_methods_supported: ["header"],
        resource_name: "Matrx Relay",
      },
    },
  },
  errors: ["NOT_FOUND"],
  answer: (c) => {
    const metadata = protectedResource(issuerOfRequest(c.env, c.req.raw), c.req.path);
    if (!metadata) throw relayError("NOT_FOUND", "Nothing at this relay has such an address");
    return c.json(metadata);
  },
});

export const oauthRoutes: readonly RelayRoute[] = [
  resourceRoute("", "getResourceMetadata", "this relay"),
  resourceRoute("/mcp", "getMcpMetadata", "all devices"),
  resourceRoute("/mcp/d/{device}", "getDeviceMcpMetadata", "one device"),
  {
    method: "GET",
    path: "/.well-known/oauth-authorization-server",
    id: "getAuthorizationServerMetadata",
    tag: "OAuth",
    summary: "How do clients sign in?",
    description: "Authorization server metadata (RFC 8414).",
    access: "anyone",
    answers: {
      200: {
        description: "The metadata",
        schema: authorizationServerSchema,
        example: {
          issuer: ORIGIN,
          authorization_endpoint: `${ORIGIN}/authorize`,
          token_endpoint: `${ORIGIN}/oauth/token`,
          revocation_endpoint: `${ORIGIN}/oauth/token`,
          registration_endpoint: `${ORIGIN}/oauth/register`,
          code_challenge_methods_supported: ["S256"],
          authorization_response_iss_parameter_supported: true,
          client_id_metadata_document_supported: true,
        },
      },
    },
    errors: ["NOT_FOUND"],
    answer: async (c) => {
      const origin = issuerOfRequest(c.env, c.req.raw);
      const request = new Request(`${origin}/.well-known/oauth-authorization-server`);
      const metadata = await authorizationServer(origin).fetch(request, oauthEnv(c.env), contextOf(c));
      return withDocuments(metadata);
    },
  },
  {
    method: "POST",
    path: "/oauth/register",
    id: "registerClient",
    tag: "OAuth",
    summary: "Register a client",
    description:
      "Dynamic client registration (RFC 7591), at most 8 KiB. A client that nobody let in within a day is forgotten. Clients with a metadata document of their own need none.",
    access: "anyone",
    body: {
      schema: registeredClientSchema.pick({ redirect_uris: true }),
      example: {
        client_name: "Some assistant",
        redirect_uris: ["http://127.0.0.1:33418/callback"],
        token_endpoint_auth_method: "none",
      },
    },
    answers: {
      201: {
        description: "The client",
        schema: registeredClientSchema,
        example: { client_id: "mQx1bq2JvH8uRkZe", redirect_uris: ["http://127.0.0.1:33418/callback"] },
      },
      400: WRONG,
    },
    errors: ["NOT_FOUND", "RATE_LIMITED"],
    answer: async (c) => {
      await requireAnonymousRate(c.env, c.req.raw, "registration");
      return answerRegistration(c.env, c.req.raw, contextOf(c));
    },
  },
  {
    method: "POST",
    path: "/oauth/token",
    id: "exchangeToken",
    tag: "OAuth",
    summary: "Trade a code, refresh a token, or give one back",
    description:
      "OAuth 2.1 as a form (`application/x-www-form-urlencoded`): `grant_type=authorization_code` with PKCE, `grant_type=refresh_token`, or without `grant_type` the revocation of `token` (RFC 7009), which for a refresh token ends the client's access.",
    access: "secret",
    answers: {
      200: {
        description: "Tokens; of a revocation nothing",
        schema: issuedTokensSchema,
        example: {
          access_token: "owner:N8kq2vWzT5rYxLpA:q1WzXe8CrV5tBy3NuMi0OpLk7JhGf4Ds",
          token_type: "bearer",
          expires_in: 3600,
          refresh_token: "owner:N8kq2vWzT5rYxLpA:Zx9Cv2Bn4Mq7We1Rt5Yu8Io3Pa6Sd0Fg",
          scope: "mcp",
          resource: `${ORIGIN}/mcp`,
        },
      },
      400: WRONG,
      401: WRONG,
    },
    errors: ["NOT_FOUND", "RATE_LIMITED"],
    answer: async (c) => {
      const answer = await answerTokenRequest(c.env, c.req.raw, contextOf(c));
      if (answer.status !== 400 && answer.status !== 401) return answer;
      const refusal = new MatrxError(unauthenticated("The client or its token is unknown"));
      const told = countRefusal(c.env, c.req.raw, refusal);
      if (told !== refusal) throw told;
      return answer;
    },
  },
  {
    method: "GET",
    path: CONSENT_PATH,
    id: "authorizeClient",
    tag: "OAuth",
    summary: "Where a client sends its person's browser",
    description:
      "The page asks them to sign in and shows who asks. A request that is wrong is answered by a page, never by a redirect.",
    access: "anyone",
    answers: {
      200: { description: "The page", other: { "text/html": "The page" } },
      400: { description: "What is wrong with the request", other: { "text/html": "A page" } },
    },
    errors: ["NOT_FOUND"],
    answer: async (c) => {
      try {
        const query = new URL(c.req.url).search.slice(1);
        await readAuthorization(c.env, c.req.raw, query, visitorRate(c.env, c.req.raw));
      } catch (error) {
        return errorPage(error);
      }
      return appPage(c);
    },
  },
];

function contextOf(c: Context<RelayEnv>): ExecutionContext {
  return c.executionCtx as ExecutionContext;
}
