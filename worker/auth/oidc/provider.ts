/** Talks to an issuer: where a browser signs in, and who did (OpenID Connect Core 1.0, authorization code with PKCE). */
import { relayError } from "@matrx/shared/errors.ts";
import type { Issuer } from "@matrx/shared/oidc-issuers.ts";
import type { AuthorizationServer, Client, ClientAuth, HttpRequestOptions } from "oauth4webapi";
import * as z from "zod";
import type { Identity } from "./accounts.ts";
import { refusedError, unreachableError } from "./failures.ts";
import type { OidcEnv } from "./issuers.ts";
import { networkOf } from "./network.ts";
import type { PendingSignIn } from "./state.ts";

/** What an issuer says of itself is asked again after this time, in milliseconds. */
const METADATA_FOR = 5 * 60_000;

/** What issuers have said of themselves, in this isolate: each for its own entry, since these may not reach the same network. */
const described = new WeakMap<Issuer, { server: AuthorizationServer; until: number }>();

/** OpenID Connect Core 1.0, section 2. */
const subSchema = z.string().min(1).max(255);

/** Some issuers send text in place of a boolean. */
const emailSchema = z.object({
  email: z.string().max(320),
  email_verified: z.union([z.literal(true), z.literal("true")]),
});

/** The library, when somebody signs in. */
const library = () => import("oauth4webapi");

/** Where the browser goes to sign in. Throws MatrxError. */
export async function signInAddress(
  env: OidcEnv,
  issuer: Issuer,
  { state, nonce, verifier }: PendingSignIn,
  redirectUri: string,
): Promise<string> {
  const { calculatePKCECodeChallenge } = await library();
  const { authorization_endpoint: endpoint } = await metadata(env, issuer);
  const address = URL.parse(endpoint ?? "");
  if (!address || !isAllowed(issuer, address))
    throw relayError("UNAVAILABLE", `${issuer.name} does not say where to sign in`, {
      hint: "Its authorization_endpoint must be an https address",
    });
  const parameters = {
    response_type: "code",
    client_id: issuer.client_id,
    redirect_uri: redirectUri,
    scope: issuer.scopes,
    state,
    nonce,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  return address.href;
}

/** Who signed in: trades the code that the browser came back with. Throws MatrxError. */
export async function identityFrom(
  env: OidcEnv,
  issuer: Issuer,
  { state, nonce, verifier }: PendingSignIn,
  { parameters, redirectUri }: { parameters: URLSearchParams; redirectUri: string },
): Promise<Identity> {
  const oauth = await library();
  // The library keeps an issuer's keys with this very object: a copy has them asked for again.
  const server = { ...(await metadata(env, issuer)) };
  const client: Client = { client_id: issuer.client_id };
  const options = await requestOptions(env, issuer);
  try {
    const code = oauth.validateAuthResponse(server, client, parameters, state);
    const proof = await clientProof(issuer, server);
    const answer = await oauth.authorizationCodeGrantRequest(
      ...([server, client, proof, code, redirectUri, verifier, options] as const),
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer, {
      expectedNonce: nonce,
      requireIdToken: true,
    });
    await oauth.validateApplicationLevelSignature(server, answer, options);
    const claims = oauth.getValidatedIdTokenClaims(tokens);
    const sub = subOf(claims);
    const email = verifiedEmail(claims);
    if (email || !needsEmail(issuer, sub) || claims?.email !== undefined || !server.userinfo_endpoint)
      return { issuer: server.issuer, sub, ...(email && { email }) };
    const told = await oauth.userInfoRequest(server, client, tokens.access_token, options);
    const later = verifiedEmail(await oauth.processUserInfoResponse(server, client, sub, told));
    return { issuer: server.issuer, sub, ...(later && { email: later }) };
  } catch (error) {
    throw refusedError(issuer, error);
  }
}

async function metadata(env: OidcEnv, issuer: Issuer): Promise<AuthorizationServer> {
  const now = Date.now();
  const known = described.get(issuer);
  if (known && known.until > now) return known.server;
  const { discoveryRequest, processDiscoveryResponse } = await library();
  const address = new URL(issuer.issuer);
  try {
    const options = await requestOptions(env, issuer);
    const server = await processDiscoveryResponse(address, await discoveryRequest(address, options));
    described.set(issuer, { server, until: now + METADATA_FOR });
    return server;
  } catch (error) {
    throw unreachableError(issuer, error);
  }
}

/** Without TLS only for issuers on this machine. */
async function requestOptions(env: OidcEnv, issuer: Issuer) {
  const { allowInsecureRequests, customFetch } = await library();
  const { signal, fetch } = networkOf(env, issuer);
  return {
    signal,
    [allowInsecureRequests]: issuer.issuer.startsWith("http:"),
    [customFetch]: fetch,
  } satisfies HttpRequestOptions<string, unknown>;
}

function isAllowed({ issuer }: Issuer, { protocol }: URL): boolean {
  return protocol === "https:" || (protocol === "http:" && issuer.startsWith("http:"));
}

async function clientProof(
  { client_secret: secret }: Issuer,
  server: AuthorizationServer,
): Promise<ClientAuth> {
  const { ClientSecretBasic, ClientSecretPost, None } = await library();
  if (!secret) return None();
  const accepted = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  return accepted.includes("client_secret_basic") ? ClientSecretBasic(secret) : ClientSecretPost(secret);
}

/** Throws an error like the library's. */
function subOf(claims: { sub: string } | undefined): string {
  const sub = subSchema.safeParse(claims?.sub);
  if (sub.success) return sub.data;
  throw Object.assign(new Error("the ID token's sub names nobody"), { code: "OAUTH_INVALID_RESPONSE" });
}

function needsEmail({ accounts }: Issuer, sub: string): boolean {
  return accounts !== "open" && !accounts.has(sub);
}

function verifiedEmail(claims: unknown): string | undefined {
  return emailSchema.safeParse(claims).data?.email;
}
