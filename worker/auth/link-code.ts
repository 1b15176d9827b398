/** Codes of links, signed by whoever holds `CLAIM_SECRET`. That each works once is up to the object that it names. */
import { MatrxError, relayError } from "@matrx/shared/errors.ts";
import { isAccountId } from "@matrx/shared/ids.ts";
import type { AUDIENCE } from "@matrx/shared/tokens.ts";
import { errors, jwtVerify, SignJWT } from "jose";
import type { Secrets } from "../secrets.ts";
import { reasonOf, type TokenClaims, unauthenticated } from "./keys.ts";

export type LinkAudience = (typeof AUDIENCE)["claim" | "invite" | "share"];

/** What a link's code says. */
export interface LinkClaims extends TokenClaims {
  /** When it was made, in milliseconds since 1970; `iat` has only seconds. */
  made: number;
}

/** Makes a code that names an account, valid for `seconds`. Throws MatrxError `UNAVAILABLE`. */
export function makeLinkCode(
  secrets: Secrets,
  audience: LinkAudience,
  { account, id }: Pick<TokenClaims, "account" | "id">,
  seconds: number,
): Promise<string> {
  const made = Date.now();
  const now = Math.floor(made / 1000);
  return new SignJWT({ made })
    .setProtectedHeader({ alg: "HS256" })
    .setAudience(audience)
    .setSubject(account)
    .setJti(id)
    .setIssuedAt(now)
    .setExpirationTime(now + seconds)
    .sign(secretOf(secrets));
}

/** Reads a link's code; `hint` says where to get another. Throws MatrxError `UNAUTHENTICATED`. */
export async function verifyLinkCode(
  secrets: Secrets,
  audience: LinkAudience,
  code: string,
  hint: string,
): Promise<LinkClaims> {
  const secret = secretOf(secrets);
  try {
    const { payload } = await jwtVerify<{ made?: number }>(code, secret, {
      algorithms: ["HS256"],
      audience,
      requiredClaims: ["exp", "iat", "sub", "jti"],
    });
    const { sub = "", jti = "", exp = 0, iat = 0, made = iat * 1000 } = payload;
    if (!isAccountId(sub)) throw new errors.JWTInvalid("sub is not an account");
    return { account: sub, subject: sub, id: jti, expires: exp * 1000, made };
  } catch (error) {
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
