/** A person's session in a browser: a cookie that names its grant, and access tokens for pages that prove its key. */
import { MatrxError } from "@matrx/shared/errors.ts";
import type { Grant } from "@matrx/shared/grant.ts";
import type { AccountId, GrantId } from "@matrx/shared/ids.ts";
import type { SignedIn } from "@matrx/shared/session-api.ts";
import { AUDIENCE, LIFETIME } from "@matrx/shared/tokens.ts";
import type { AddressEnv } from "../auth/address.ts";
import { readCookie } from "../auth/cookie.ts";
import { noCredential, signToken, unauthenticated, verifySignature } from "../auth/keys.ts";
import { requireOwnOrigin } from "../auth/origin.ts";
import type { Env } from "../env.ts";
import { knownAccount } from "../known-accounts.ts";
import type { Secrets } from "../secrets.ts";

/** A session, as its cookie names it. */
export interface NamedSession {
  account: AccountId;
  grant: GrantId;
}

/**
 * The session of a request of our own page. It proves nothing yet: so it does not matter which key signed the cookie, only
 * that there is such an account. Throws MatrxError.
 */
export async function namedSession(
  env: Secrets & AddressEnv & Pick<Env, "ACCOUNT" | "DIRECTORY">,
  request: Request,
): Promise<NamedSession> {
  requireOwnOrigin(env, request);
  const cookie = readCookie(env, request);
  if (!cookie) throw new MatrxError(noCredential("Nobody is signed in here", "Sign in on this page"));
  const { account, subject, retired } = await verifySignature(env, AUDIENCE.web, cookie);
  if (retired && !(await knownAccount(env, account as AccountId)))
    throw new MatrxError(
      unauthenticated("The cookie names no account of this relay", "Sign in on this page"),
    );
  return { account: account as AccountId, grant: subject as GrantId };
}

/** The cookie's value for a new session. */
export function makeSessionToken(secrets: Secrets, { account, id }: Pick<Grant, "account" | "id">) {
  return signToken(secrets, AUDIENCE.web, { account, subject: id, id: crypto.randomUUID() }, LIFETIME.web);
}

/** What a page may do with a session for the next minutes; never longer than its grant. */
export async function accessFor(
  secrets: Secrets,
  { account, id, expires }: Pick<Grant, "account" | "id" | "expires">,
): Promise<SignedIn> {
  const seconds = Math.max(1, Math.min(LIFETIME.access, Math.floor((expires - Date.now()) / 1000)));
  const names = { account, subject: id, id: crypto.randomUUID() };
  const access_token = await signToken(secrets, AUDIENCE.caller, names, seconds);
  return { account, access_token, expires_in: seconds };
}
