/** Requests of clients to the token endpoint and the registration: read within limits, then handed to the library. */
import { readBounded } from "@matrx/shared/caller/body.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import * as z from "zod";
import { OPEN_BODY } from "../body.ts";
import type { Env } from "../env.ts";
import { PREFIX } from "../objects/oauth-store.ts";
import { HeldKv } from "./kv.ts";
import { isGoodRedirect } from "./redirects.ts";
import { answerRefresh } from "./refresh.ts";
import { resourceNamed } from "./resource.ts";
import { authorizationServer, issuerOfRequest, oauthEnv } from "./server.ts";

/** The library's answer to a request for tokens, or for their end. Throws MatrxError. */
export async function answerTokenRequest(
  env: Env,
  request: Request,
  context: ExecutionContext,
): Promise<Response> {
  const origin = issuerOfRequest(env, request);
  const form = new URLSearchParams(await readBounded(asText(request), OPEN_BODY));
  const library = oauthEnv(env);
  const grantKey = grantKeyOf(form);
  const stored = await library.OAUTH_KV.get(grantKey, { type: "json" });
  const { resource } = (stored ?? {}) as { resource?: string };
  // Without a resource in the request, the one of the grant counts.
  const asked = resourceNamed(origin, form.get("resource") ?? "");
  if (asked !== undefined) form.set("resource", asked);
  const named = [resourceNamed(origin, resource ?? ""), asked];
  const server = authorizationServer(origin, named);
  const read = () => readRequest(`${origin}/oauth/token`, request, form.toString());
  const store = stored ? await library.OAUTH_KV.storeOf(grantKey) : undefined;
  const token = form.get("refresh_token");
  if (!store || !token || !isRefresh(form)) return orTraded(await server.fetch(read(), library, context));
  const refresh = {
    token,
    grantKey,
    credentials: credentialsOf(request, form),
    resource: form.get("resource") ?? undefined,
    scope: form.get("scope") ?? undefined,
  };
  return answerRefresh(store, refresh, async () => {
    const writes = new HeldKv(env);
    return { writes, response: await server.fetch(read(), { ...library, OAUTH_KV: writes }, context) };
  });
}

/** Of those that trade one code at once, one gets tokens: the others are not to try again, which would end what that one got. */
function orTraded(response: Response): Response {
  if (response.status !== 429) return response;
  const error_description = "The authorization code is traded already";
  const headers = { "Cache-Control": "no-store", Pragma: "no-cache" };
  return Response.json({ error: "invalid_grant", error_description }, { status: 400, headers });
}

/** The library's answer to a client that registers. Throws MatrxError. */
export async function answerRegistration(
  env: Env,
  request: Request,
  context: ExecutionContext,
): Promise<Response> {
  const origin = issuerOfRequest(env, request);
  const sent = await readBounded(request, { ...OPEN_BODY, bytes: LIMITS.clientRegistrationBytes });
  const body = withoutNulls(sent);
  if (!hasGoodRedirect(body)) return badRedirects();
  const read = readRequest(`${origin}/oauth/register`, request, body);
  return authorizationServer(origin).fetch(read, oauthEnv(env), context);
}

/** Clients write what they leave out as null, too. What can't be read, the library refuses. */
function withoutNulls(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body, (_, value: unknown) => value ?? undefined));
  } catch {
    return body;
  }
}

const redirectsSchema = z.object({ redirect_uris: z.array(z.string()).min(1) });

/** A client may list addresses for others, besides one that it can be called back by here. What can't be read, the library refuses. */
function hasGoodRedirect(body: string): boolean {
  try {
    const { data } = redirectsSchema.safeParse(JSON.parse(body));
    return data === undefined || data.redirect_uris.some(isGoodRedirect);
  } catch {
    return true;
  }
}

/** RFC 7591, section 3.2.2 */
function badRedirects(): Response {
  const error_description =
    "redirect_uris needs one that is https, http on a loopback host, or of a private scheme that begins with a domain, such as com.example.app:/callback";
  const headers = { "Cache-Control": "no-store" };
  return Response.json({ error: "invalid_redirect_uri", error_description }, { status: 400, headers });
}

/** The same request at this relay's own address, with its body at hand. */
function readRequest(address: string, { headers: sent }: Request, body: string): Request {
  const headers = new Headers();
  for (const name of ["Content-Type", "Authorization"]) {
    const value = sent.get(name);
    if (value !== null) headers.set(name, value);
  }
  return new Request(address, { method: "POST", headers, body });
}

/** The runtime warns of a form that is read as text. */
function asText(request: Request): Request {
  const length = request.headers.get("Content-Length");
  return new Request(request, { headers: length === null ? {} : { "Content-Length": length } });
}

function credentialsOf({ headers }: Request, form: URLSearchParams): string {
  const header = headers.get("Authorization")?.replace(/^basic +/i, "Basic ");
  return JSON.stringify([header, form.get("client_id"), form.get("client_secret")]);
}

function isRefresh(form: URLSearchParams): boolean {
  return form.get("grant_type") === "refresh_token";
}

/** Codes and tokens begin with their account and grant. What is not traded says nothing: it may name another's grant. */
function grantKeyOf(form: URLSearchParams): string {
  const [account, grant] = (form.get(isRefresh(form) ? "refresh_token" : "code") ?? "").split(":");
  return `${PREFIX.grant}${account}:${grant}`;
}
