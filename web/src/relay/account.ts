/** Signing in and out. Each way in makes the session this browser's; `key` in a body is added by `session.ts`. */
import { accessToken, api, postOpenly } from "./api.ts";
import { isSignedOut } from "./api-error.ts";
import type { Answer } from "./routes.ts";
import * as session from "./session.ts";

export type AccountView = Answer<"GET /v1/account">;

/** The account of this browser's session; null: nobody is signed in. Throws ApiError. */
export async function signedInAccount(): Promise<AccountView | null> {
  try {
    if ((await accessToken()) === undefined) return null;
    return await api("GET /v1/account");
  } catch (error) {
    if (isSignedOut(error)) return null;
    throw error;
  }
}

/** Exchanges a sign-in link's code for a session. Throws ApiError. */
export async function claim(code: string): Promise<void> {
  await session.signIn("/v1/claim", { code }, postOpenly);
}

/** Signs in by a recovery code, which is used up. Throws ApiError. */
export async function signInByRecoveryCode(code: string): Promise<void> {
  await session.signIn("/v1/sign-in/recovery", { code }, postOpenly);
}

/** Signs in by what an authenticator answered. Throws ApiError. */
export async function signInByPasskey(body: { state: string; credential: object }): Promise<void> {
  await session.signIn("/v1/sign-in/passkey", body, postOpenly);
}

/** Takes an invitation, which makes an account. Throws ApiError. */
export async function acceptInvite(body: { code: string; name: string }): Promise<void> {
  await session.signIn("/v1/invites/accept", body, postOpenly);
}

/** Leaves for an issuer's page. Throws ApiError. */
export async function leaveForIssuer(issuer: string): Promise<void> {
  const body = { key: await session.beginSignIn() };
  const { location: there } = await postOpenly<Answer<"POST /v1/sign-in/oidc/{issuer}">>(
    `/v1/sign-in/oidc/${encodeURIComponent(issuer)}`,
    body,
  );
  location.assign(there);
}

/** What an issuer sent this browser back with; it counts only in the browser that began. Throws ApiError. */
export async function finishAtIssuer(issuer: string, response: string): Promise<void> {
  const state = new URLSearchParams(response).get("state") ?? "";
  const path = `/v1/sign-in/oidc/${encodeURIComponent(issuer)}/finish`;
  await session.finishSignIn(path, { response }, state, postOpenly);
}

/** A session that is over already needs no end. */
export async function signOut(): Promise<void> {
  try {
    await api("POST /v1/sign-out");
  } catch (error) {
    if (!isSignedOut(error)) throw error;
  }
  await session.forget();
}

/** The account that a sign-in code is for, if it can be read: anybody can send a link that signs in as themselves. */
export function accountOfCode(code: string): string | undefined {
  try {
    const claims = code.split(".")[1] ?? "";
    return JSON.parse(atob(claims.replaceAll("-", "+").replaceAll("_", "/"))).sub;
  } catch {
    return undefined;
  }
}
