/** Sign-in links: whoever can read the claim secret may sign in, once per link. */
import { LIFETIME } from "../../shared/tokens.ts";
import * as claims from "../../worker/auth/claim.ts";

/** The account of an installation that nobody has given more accounts. */
const OWNER = "owner";

/** Makes a code that signs somebody in once, within a day. The relay accepts it only if the account exists. */
export function makeClaimCode(claimSecret: string, account: string = OWNER): Promise<string> {
  return claims.makeClaimCode({ CLAIM_SECRET: claimSecret }, account, LIFETIME.claim);
}

/** The link that signs somebody in. */
export async function makeSignInLink(
  relay: string,
  claimSecret: string,
  account: string = OWNER,
): Promise<string> {
  return claims.signInLink(relay, await makeClaimCode(claimSecret, account));
}
