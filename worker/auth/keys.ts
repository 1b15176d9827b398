/** The relay's tokens: EdDSA JWTs, one audience each. */
import { type ErrorShape, MatrxError } from "@matrx/shared/errors.ts";
import { errors, type JWK } from "jose";
import type { Secrets } from "../secrets.ts";
import { keyring } from "./keyring.ts";

/** The claims of our JWTs. */
export interface TokenClaims {
  account: string;
  /** The grant, device, or code that it names. */
  subject: string;
  id: string;
  /** Milliseconds since 1970. */
  expires: number;
}

/** Signs a token. `seconds`: its lifetime. */
export async function signToken(
  secrets: Secrets,
  audience: string,
  claims: { account: string; subject: string; id: string },
  seconds: number,
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const { sign } = await keyring(secrets);
  return sign({
    aud: audience,
    sub: claims.account,
    gid: claims.subject,
    jti: claims.id,
    iat: now,
    exp: now + seconds,
  });
}

/** Signs something that the relay says, and that is no credential: it has neither an end nor a name. */
export async function signStatement(
  secrets: Secrets,
  audience: string,
  claims: Record<string, unknown> & { sub: string },
): Promise<string> {
  const { sign } = await keyring(secrets);
  return sign({ ...claims, aud: audience, iat: Math.floor(Date.now() / 1000) });
}

/** Verifies a token of one audience, which a key that was retired may not have signed. Throws MatrxError `UNAUTHENTICATED`. */
export async function verifyToken(secrets: Secrets, audience: string, token: string): Promise<TokenClaims> {
  const { retired, ...claims } = await verifySignature(secrets, audience, token);
  if (retired) throw new MatrxError(unauthenticated("The key that signed this token was retired"));
  return claims;
}

/**
 * Verifies the signature alone: of a token by a retired key, somebody must still know that it was not forged
 * (`lasting-tokens.ts`). Throws MatrxError `UNAUTHENTICATED`.
 */
export async function verifySignature(
  secrets: Secrets,
  audience: string,
  token: string,
): Promise<TokenClaims & { retired: boolean }> {
  const { verify } = await keyring(secrets);
  try {
    const { payload, retired } = await verify(token, audience);
    const { sub, gid, jti, exp } = payload;
    if (!sub || typeof gid !== "string" || !jti || !exp) throw new errors.JWTInvalid("a claim is missing");
    return { account: sub, subject: gid, id: jti, expires: exp * 1000, retired };
  } catch (error) {
    throw new MatrxError(unauthenticated(reasonOf(error)), error);
  }
}

/** The public half of the signing keys. Throws MatrxError `UNAVAILABLE` if a secret is missing. */
export async function publicKeys(secrets: Secrets): Promise<{ keys: JWK[] }> {
  return (await keyring(secrets)).publicKeys;
}

/** A 401 that says what to do. */
export function unauthenticated(message: string, hint = "Sign in again, or create a new token"): ErrorShape {
  return { code: "UNAUTHENTICATED", message, hint, hop: "relay" };
}

/** A 401 to a request that came without a credential. */
export function noCredential(message: string, hint: string): ErrorShape {
  return { ...unauthenticated(message, hint), details: { reason: "no_credential" } };
}

/** Why a token was refused, without revealing more than its holder knows. */
export function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return "The token has expired";
  if (error instanceof errors.JWTClaimValidationFailed) return `The token's ${error.claim} is wrong here`;
  if (error instanceof errors.JOSEAlgNotAllowed)
    return "The token is signed with an algorithm that is not allowed";
  if (error instanceof errors.JWSSignatureVerificationFailed) return "The token's signature is wrong";
  if (error instanceof errors.JWKSNoMatchingKey)
    return "The token is signed with a key this relay doesn't have";
  return "The token can't be read";
}
