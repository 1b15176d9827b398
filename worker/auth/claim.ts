/** Sign-in links: a one-time code, signed by whoever holds `CLAIM_SECRET`. */
import { MatrxError, relayError } from "@matrx/shared/errors.ts";
import { isAccountId } from "@matrx/shared/ids.ts";
import { AUDIENCE } from "@matrx/shared/tokens.ts";
import { errors, jwtVerify, SignJWT } from "jose";
import type { Secrets } from "../secrets.ts";
import { reasonOf, type TokenClaims, unauthenticated } from "./keys.ts";

/** What a sign-in link's code says. */
export interface Claim extends TokenClaims {
  /** When it was made, in milliseconds since 1970; `iat` has only seconds. */
  made: number;
}

/** Makes a code that signs a person in to this account once, within `seconds`. Throws MatrxError `UNAVAILABLE`. */
export function makeClaimCode(secrets: Secrets, account: string, seconds: number): Promise<string> {
  const made = Date.now();
  const now = Math.floor(made / 1000);
  return new SignJWT({ made })
    .setProtectedHeader({ alg: "HS256" })
    .setAudience(AUDIENCE.claim)
    .setSubject(account)
    .setJti(crypto.randomUUID())
    .setIssuedAt(now)
    .setExpirationTime(now + seconds)
    .sign(secretOf(secrets));
}

/** The link that signs its reader in. The code is in the fragment, which browsers do not send. */
export function signInLink(origin: string, code: string): string {
  return `${origin}/#claim=${code}`;
}

/** Reads a sign-in link's code. Throws MatrxError `UNAUTHENTICATED`. */
export async function verifyClaim(secrets: Secrets, code: string): Promise<Claim> {
  const secret = secretOf(secrets);
  try {
    const { payload } = await jwtVerify<{ made?: number }>(code, secret, {
      algorithms: ["HS256"],
      audience: AUDIENCE.claim,
      requiredClaims: ["exp", "iat", "sub", "jti"],
    });
    const { sub = "", jti = "", exp = 0, iat = 0, made = iat * 1000 } = payload;
    if (!isAccountId(sub)) throw new errors.JWTInvalid("sub is not an account");
    return { account: sub, subject: sub, id: jti, expires: exp * 1000, made };
  } catch (error) {
    const hint = "Make a new link with `npm run link` on the machine that runs the relay";
    throw new MatrxError(unauthenticated(reasonOf(error).replace("token", "link"), hint), error);
  }
}

function secretOf({ CLAIM_SECRET }: Secrets): Uint8Array {
  const secret = new TextEncoder().encode(CLAIM_SECRET ?? "");
  if (secret.length >= 32) return secret;
  throw relayError(
    "UNAVAILABLE",
    "This relay cannot be claimed: CLAIM_SECRET is not set, or shorter than 32 bytes",
    { hint: "Run `npm start` or `npm run deploy` to create it" },
  );
}
