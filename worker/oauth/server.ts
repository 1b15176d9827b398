/** The authorization server for AI clients, by Cloudflare's library; its store is `kv.ts`, its page `web/consent.js`. */
import {
  OAuthAuthorizationServer,
  OAuthError,
  type TokenExchangeCallbackOptions,
  type TokenExchangeCallbackResult,
} from "@cloudflare/workers-oauth-provider";
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import type { AccountId, GrantId } from "@matrx/shared/ids.ts";
import { ownOrigin } from "../auth/address.ts";
import type { Env } from "../env.ts";
import { OAuthKv } from "./kv.ts";
import { MCP_PATH, MCP_SCOPE } from "./resource.ts";

/** What an access token carries, sealed with the token itself. */
export interface OAuthProps {
  account: AccountId;
  grant: GrantId;
}

export interface OAuthEnv extends Env {
  OAUTH_KV: OAuthKv;
}

/** A client that a person let in, and that asks for tokens at least this often, stays registered; in seconds. */
export const CLIENT_KEPT = 365 * 24 * 60 * 60;
/** An access token's lifetime, in seconds. */
const ACCESS = 60 * 60;
/** The library gives no token that lives shorter, in seconds. */
const SHORTEST = 60;

const LOOPBACK = /^http:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/;

/** The environment as the library takes it. */
export function oauthEnv(env: Env): OAuthEnv {
  return { ...env, OAUTH_KV: new OAuthKv(env) };
}

/** This relay's address as issuer: exactly as the request names it. Throws MatrxError where OAuth must not be used. */
export function issuerOfRequest(env: Env, request: Request): string {
  const origin = ownOrigin(env, request);
  if (!isSafe(origin)) throw notSafeError(origin);
  return origin;
}

/** Whether codes and tokens may pass: over TLS, or within this machine. */
export function isSafe(origin: string): boolean {
  return origin.startsWith("https://") || LOOPBACK.test(origin);
}

/** Servers of late, by their resources: each takes longer to make than to use. */
const servers = new Map<string, OAuthAuthorizationServer<OAuthEnv>>();
const SERVERS_MAX = 64;

/** The server at an address. `named`: resources of single devices that this request is about. */
export function authorizationServer(
  origin: string,
  named: readonly (string | undefined)[] = [],
): OAuthAuthorizationServer<OAuthEnv> {
  const all = origin + MCP_PATH;
  const resources = [...new Set([all, ...named.filter((resource) => resource !== undefined)])];
  const key = resources.join(" ");
  const known = servers.get(key);
  if (known) return known;
  const made = makeServer(origin, resources);
  if (servers.size >= SERVERS_MAX) servers.clear();
  servers.set(key, made);
  return made;
}

function makeServer(origin: string, resources: string[]): OAuthAuthorizationServer<OAuthEnv> {
  return new OAuthAuthorizationServer<OAuthEnv>({
    issuer: origin,
    resources,
    defaultResource: origin + MCP_PATH,
    scopesSupported: [MCP_SCOPE, "offline_access"],
    authorizeEndpoint: "/authorize",
    tokenEndpoint: "/oauth/token",
    clientRegistrationEndpoint: "/oauth/register",
    accessTokenTTL: ACCESS,
    // Programs with windows are called back by addresses of their own (RFC 8252, 7.1), of which `redirects.ts` allows some.
    // Another program may claim the same ones: it can do nothing with a code, for want of the verifier.
    allowPrivateUseRedirectUris: true,
    clientRegistrationTTL: CLIENT_KEPT,
    tokenExchangeCallback: lifetimes,
    // The client is told why. A log must not hold what strangers send.
    onError: () => undefined,
  });
}

/** Tokens live as long as the grant; one that is over gives none, and the library forgets it. */
async function lifetimes({
  props,
  env,
}: TokenExchangeCallbackOptions<OAuthEnv>): Promise<TokenExchangeCallbackResult> {
  const { account, grant } = props as OAuthProps;
  const until = (await env.ACCOUNT.getByName(account).clientUntil(grant)) ?? 0;
  const seconds = Math.floor((until - Date.now()) / 1000);
  if (seconds < SHORTEST)
    throw new OAuthError("invalid_grant", { description: "The connection was ended, or has expired" });
  return {
    accessTokenTTL: Math.min(ACCESS, seconds),
    refreshTokenTTL: seconds,
    refreshTokenIdleTTL: seconds,
  };
}

function notSafeError(origin: string): MatrxError {
  return relayError("NOT_FOUND", `AI clients can't sign in at ${origin}`, {
    hint: "Use the relay's https address, or http://localhost on its own machine; or give the client a token of the relay",
  });
}
