/** Sign-in links: whoever can read the claim secret may sign in as the owner, once per link. */
import { LIFETIME } from "../../shared/tokens.ts";
import * as claims from "../../worker/auth/claim.ts";

/** The account of an installation that nobody has given more accounts. */
const OWNER = "owner";

/** Makes a code that signs the owner in once, within a day. */
export function makeClaimCode(claimSecret: string): Promise<string> {
  return claims.makeClaimCode({ CLAIM_SECRET: claimSecret }, OWNER, LIFETIME.claim);
}

/** The link that signs the owner in. */
export async function makeSignInLink(relay: string, claimSecret: string): Promise<string> {
  return claims.signInLink(relay, await makeClaimCode(claimSecret));
}
