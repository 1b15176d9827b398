/** Sign-in links: whoever can read the claim secret may sign in as the owner, once per link. */
import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import { AUDIENCE, LIFETIME } from "../../shared/tokens.ts";

/** The account of an installation that nobody has given more accounts. */
const OWNER = "owner";

/** Makes a code that signs the owner in once, within a day. */
export function makeClaimCode(claimSecret: string): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT()
    .setProtectedHeader({ alg: "HS256" })
    .setAudience(AUDIENCE.claim)
    .setSubject(OWNER)
    .setJti(randomUUID())
    .setIssuedAt(now)
    .setExpirationTime(now + LIFETIME.claim)
    .sign(new TextEncoder().encode(claimSecret));
}

/** The link that signs the owner in. The code stands in the fragment, which browsers do not send. */
export async function makeSignInLink(relay: string, claimSecret: string): Promise<string> {
  return `${relay}/#claim=${await makeClaimCode(claimSecret)}`;
}
