/** A person's session in a browser: the cookie that keeps it, and the access tokens that it gets by proof of a key. */
import * as z from "zod";

/** A P-256 public key as JWK (RFC 7518, section 6.2), without anything else. */
export const sessionKeySchema = z.strictObject({
  kty: z.literal("EC"),
  crv: z.literal("P-256"),
  x: z.string().regex(/^[A-Za-z0-9_-]{43}$/, "must be 32 bytes in base64url"),
  y: z.string().regex(/^[A-Za-z0-9_-]{43}$/, "must be 32 bytes in base64url"),
});
export type SessionKey = z.infer<typeof sessionKeySchema>;

/** `POST /v1/claim`: the code of a sign-in link, and the key that the session is bound to. */
export const claimSchema = z.strictObject({ code: z.string().max(4096), key: sessionKeySchema });

/** Answer to every way of signing in, and to `POST /v1/session`. */
export const signedInSchema = z.object({
  account: z.string(),
  access_token: z.string().describe("A bearer token, to be kept in memory"),
  expires_in: z.int().describe("Seconds"),
});
export type SignedIn = z.infer<typeof signedInSchema>;

/** Answer to `POST /v1/sessions/revoke-others` */
export const revokedSessionsSchema = z.object({
  revoked: z.int().describe("How many browsers and command lines were signed out"),
});

/** The claims of a proof of a session's key (RFC 9449, section 4.2). */
export const proofClaimsSchema = z.object({
  htm: z.string(),
  htu: z.string(),
  iat: z.int(),
  jti: z.string(),
  nonce: z.string(),
});
export type ProofClaims = z.infer<typeof proofClaimsSchema>;

/** Request header with the proof of the session's key (RFC 9449, section 4). */
export const PROOF_HEADER = "DPoP";

/** Response header with the nonce that the next proof must contain, once (RFC 9449, section 8). */
export const PROOF_NONCE_HEADER = "DPoP-Nonce";
