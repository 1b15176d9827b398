/** The relay's signing keys: EdDSA JWTs, one audience each. */
import { type ErrorShape, MatrxError, relayError } from "@matrx/shared/errors.ts";
import { createLocalJWKSet, errors, importJWK, type JWK, type JWTPayload, jwtVerify, SignJWT } from "jose";
import * as z from "zod";
import type { Secrets } from "../secrets.ts";

const ISSUER = "matrx-relay";

const privateKeysSchema = z.object({
  keys: z
    .array(
      z.looseObject({
        kty: z.literal("OKP"),
        crv: z.literal("Ed25519"),
        kid: z.string().min(1),
        x: z.string().min(1),
        d: z.string().min(1),
      }),
    )
    .min(1),
});

/** The claims of our JWTs. */
export interface TokenClaims {
  account: string;
  /** The grant, device, or code that it names. */
  subject: string;
  id: string;
  /** Milliseconds since 1970. */
  expires: number;
}

interface Keyring {
  sign: (claims: JWTPayload) => Promise<string>;
  verify: (token: string, audience: string) => Promise<JWTPayload>;
  publicKeys: { keys: JWK[] };
}

/** The secret is parsed once per isolate and value. */
const keyrings = new Map<string, Promise<Keyring>>();

function keyring(secrets: Secrets): Promise<Keyring> {
  if (!secrets.RELAY_KEYS || !secrets.CLAIM_SECRET)
    throw unconfigured("RELAY_KEYS or CLAIM_SECRET is not set");
  let found = keyrings.get(secrets.RELAY_KEYS);
  if (!found) {
    found = makeKeyring(secrets.RELAY_KEYS);
    keyrings.clear();
    keyrings.set(secrets.RELAY_KEYS, found);
  }
  return found;
}

async function makeKeyring(text: string): Promise<Keyring> {
  const { keys } = parseKeys(text);
  const [first] = keys;
  if (!first) throw unconfigured("RELAY_KEYS contains no key");
  const signingKey = await importJWK(first as JWK, "EdDSA");
  const publicKeys = keys.map(({ kty, crv, kid, x }) => ({ kty, crv, kid, x, alg: "EdDSA", use: "sig" }));
  const keySet = createLocalJWKSet({ keys: publicKeys });
  return {
    publicKeys: { keys: publicKeys },
    sign: (claims) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: "EdDSA", typ: "JWT", kid: first.kid })
        .setIssuer(ISSUER)
        .sign(signingKey),
    verify: async (token, audience) => {
      const options = {
        algorithms: ["EdDSA"],
        issuer: ISSUER,
        audience,
        requiredClaims: ["exp", "sub", "jti"],
      };
      return (await jwtVerify(token, keySet, options)).payload;
    },
  };
}

function parseKeys(text: string) {
  try {
    return privateKeysSchema.parse(JSON.parse(text));
  } catch {
    throw unconfigured("RELAY_KEYS is not a JWKS of private Ed25519 keys");
  }
}

function unconfigured(message: string): MatrxError {
  return relayError("UNAVAILABLE", message, {
    hint: "Run `npm start` or `npm run deploy` to create the relay's secrets",
  });
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

/** Verifies a token of one audience. Throws MatrxError `UNAUTHENTICATED`. */
export async function verifyToken(secrets: Secrets, audience: string, token: string): Promise<TokenClaims> {
  const { verify } = await keyring(secrets);
  try {
    const { sub, gid, jti, exp } = await verify(token, audience);
    if (!sub || typeof gid !== "string" || !jti || !exp) throw new errors.JWTInvalid("a claim is missing");
    return { account: sub, subject: gid, id: jti, expires: exp * 1000 };
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
