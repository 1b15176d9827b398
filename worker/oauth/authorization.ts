/** A client's request to be let in, as its browser brought it to `/authorize`. */
import {
  AuthorizationError,
  type AuthRequest,
  authorizationErrorRedirect,
  type OAuthHelpers,
} from "@cloudflare/workers-oauth-provider";
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import type { Grant, GrantClient } from "@matrx/shared/grant.ts";
import type { ClientRequestView, RequestAnswer } from "@matrx/shared/oauth-api.ts";
import { plainName } from "@matrx/shared/plain-names.ts";
import type { Env } from "../env.ts";
import { PREFIX } from "../objects/oauth-store.ts";
import { type FetchRate, hostOf, isDocumentAddress, learnClient } from "./client-document.ts";
import { isGoodRedirect } from "./redirects.ts";
import { deviceOf, MCP_PATH, MCP_SCOPE, resourceNamed } from "./resource.ts";
import { authorizationServer, CLIENT_KEPT, issuerOfRequest, type OAuthProps, oauthEnv } from "./server.ts";

export interface Authorization {
  request: AuthRequest;
  client: GrantClient;
  resource: string;
  api: OAuthHelpers;
}

/** Long enough for SHA-256 in base64url, and nothing else is allowed. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
const NAME_CHARS = 64;
/** Some letters are blank, as the Hangul filler, and so is a cell of Braille. */
const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}\u2800]/u;
const QUERY_CHARS = 8192;

/** Reads and checks a request; `fetches` counts a client's document, if it may be fetched for who asks. Throws AuthorizationError, which says whether the client may be told, or MatrxError. */
export async function readAuthorization(
  env: Env,
  from: Request,
  query: string,
  fetches: FetchRate,
): Promise<Authorization> {
  const origin = issuerOfRequest(env, from);
  const asked = new URLSearchParams(query);
  requireOnce(asked, query);
  const id = asked.get("client_id") ?? "";
  if (isDocumentAddress(id)) await learnClient(env, id, fetches);
  const named = resourceNamed(origin, asked.get("resource") ?? "");
  if (named !== undefined) asked.set("resource", named);
  const api = authorizationServer(origin, [named]).getOAuthApi(oauthEnv(env));
  const request = await api.parseAuthRequest(new Request(`${origin}/authorize?${asked}`));
  if (!isGoodRedirect(request.redirectUri)) throw badRedirectError(request.redirectUri);
  requireChallenge(request);
  const { clientName } = (await api.lookupClient(id)) ?? {};
  const name = plainName(clientName ?? "").trim();
  const client = {
    id,
    name: VISIBLE.test(name) ? name.slice(0, NAME_CHARS).toWellFormed() : "An app without a name",
    host: hostOf(id),
  };
  return { api, request, client, resource: request.resource ?? origin + MCP_PATH };
}

/** What the person is shown of it. */
export function authorizationView(
  { request, client, resource }: Authorization,
  answered: RequestAnswer | null,
): ClientRequestView {
  const { protocol, hostname, host } = new URL(request.redirectUri);
  const isWeb = /^https?:$/.test(protocol);
  return {
    client,
    redirect_host: isWeb ? host : protocol,
    redirect_is_local: isWeb && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname),
    device: deviceOf(resource) ?? null,
    answered,
  };
}

/** Lets the client in by a grant. Returns where its browser goes. */
export async function complete(env: Env, { api, request }: Authorization, grant: Grant): Promise<string> {
  const { id, account } = grant;
  const { redirectTo } = await api.completeAuthorization({
    request,
    userId: account,
    metadata: { grant: id },
    scope: [MCP_SCOPE, ...request.scope.filter((scope) => scope === "offline_access")],
    props: { account, grant: id } satisfies OAuthProps,
    // Each installation has a grant of its own; the person ends those that are not needed.
    revokeExistingGrants: false,
  });
  await keepClient(env, request.clientId);
  return redirectTo;
}

/** Where the client's browser goes when the person does not want it. */
export function refused({ request }: Authorization): string {
  return authorizationErrorRedirect(request, "access_denied", "The person did not let this client in");
}

/** A registration that nobody uses ends after a day; this one is used. */
async function keepClient(env: Env, id: string): Promise<void> {
  const { OAUTH_KV: kv } = oauthEnv(env);
  const client = await kv.get(PREFIX.client + id);
  if (typeof client === "string") await kv.put(PREFIX.client + id, client, { expirationTtl: CLIENT_KEPT });
}

/** A parameter that comes twice means one thing to one reader and another to the next. */
function requireOnce(asked: URLSearchParams, query: string): void {
  const names = [...asked.keys()];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined && query.length <= QUERY_CHARS) return;
  throw relayError("INVALID_PARAMETERS", "The app's request can't be read", {
    hint: "Go back to the app, and connect again",
  });
}

function badRedirectError(address: string): MatrxError {
  const { protocol } = new URL(address);
  return relayError("INVALID_PARAMETERS", `The app wants to be called back by a ${protocol} address`, {
    hint: "It may be https, http on this computer, or a scheme of its own that begins with its domain, such as com.example.app:",
  });
}

/** The library lets clients with a secret do without. Throws AuthorizationError. */
function requireChallenge({
  codeChallenge,
  codeChallengeMethod,
  redirectUri,
  state,
  issuer,
}: AuthRequest): void {
  if (codeChallengeMethod === "S256" && CHALLENGE.test(codeChallenge ?? "")) return;
  throw new AuthorizationError("invalid_request", {
    description: "PKCE with S256 is required",
    redirectUri,
    state,
    ...(issuer !== undefined && { issuer }),
  });
}
