/** Sign-in links: whoever opens one first is signed in as its account. */
import { AUDIENCE } from "@matrx/shared/tokens.ts";
import type { Secrets } from "../secrets.ts";
import { type LinkClaims, makeLinkCode, verifyLinkCode } from "./link-code.ts";

/** Makes a code that signs a person in to this account once, within `seconds`. Throws MatrxError `UNAVAILABLE`. */
export function makeClaimCode(secrets: Secrets, account: string, seconds: number): Promise<string> {
  return makeLinkCode(secrets, AUDIENCE.claim, { account, id: crypto.randomUUID() }, seconds);
}

/** The link that signs its reader in. The code is in the fragment, which browsers do not send. */
export function signInLink(origin: string, code: string): string {
  return `${origin}/#claim=${code}`;
}

/** Reads a sign-in link's code. Throws MatrxError `UNAUTHENTICATED`. */
export async function verifyClaim(secrets: Secrets, code: string): Promise<LinkClaims> {
  const hint = "Make a new link with `npm run link` on the machine that runs the relay";
  return verifyLinkCode(secrets, AUDIENCE.claim, code, hint);
}
