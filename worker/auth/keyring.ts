/** The keys in `RELAY_KEYS`, ready for use. */
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import { isRetired, type RelayKeys, relayKeysSchema } from "@matrx/shared/relay-keys.ts";
import {
  type CryptoKey,
  errors,
  importJWK,
  type JWK,
  type JWTHeaderParameters,
  type JWTPayload,
  jwtVerify,
  SignJWT,
} from "jose";
import type { Secrets } from "../secrets.ts";

const ISSUER = "matrx-relay";
const ALGORITHM = "EdDSA";

interface Verified {
  payload: JWTPayload;
  /** The key that signed it was retired, so a thief of old keys may have signed it, too. */
  retired: boolean;
}

export interface Keyring {
  sign(claims: JWTPayload): Promise<string>;
  /** Throws jose's errors. */
  verify(token: string, audience: string): Promise<Verified>;
  /** Of the keys that are not retired. */
  publicKeys: { keys: JWK[] };
}

/** The secret is parsed once per isolate and value. */
const keyrings = new Map<string, Promise<Keyring>>();

/** Throws MatrxError `UNAVAILABLE` if a secret is missing or unreadable. */
export function keyring({ RELAY_KEYS, CLAIM_SECRET }: Secrets): Promise<Keyring> {
  if (!RELAY_KEYS || !CLAIM_SECRET) throw unconfigured("RELAY_KEYS or CLAIM_SECRET is not set");
  let found = keyrings.get(RELAY_KEYS);
  if (!found) {
    found = makeKeyring(RELAY_KEYS);
    keyrings.clear();
    keyrings.set(RELAY_KEYS, found);
  }
  return found;
}

async function makeKeyring(text: string): Promise<Keyring> {
  const { keys } = parseKeys(text);
  const [{ kid }] = keys;
  const signingKey = await importJWK(keys[0] as JWK, ALGORITHM);
  const publicHalves = keys.map(({ kty, crv, kid, x, retired }) => ({ kty, crv, kid, x, retired }));
  const known = new Map(
    await Promise.all(
      publicHalves.map(async ({ retired, ...half }) => {
        const key = (await importJWK(half, ALGORITHM)) as CryptoKey;
        return [half.kid, { key, retired: retired !== undefined }] as const;
      }),
    ),
  );
  const named = (kid: string | undefined) => {
    const found = known.get(kid ?? "");
    if (!found) throw new errors.JWKSNoMatchingKey();
    return found;
  };
  return {
    publicKeys: {
      keys: keys
        .filter((key) => !isRetired(key))
        .map(({ kty, crv, kid, x }) => ({ kty, crv, kid, x, alg: ALGORITHM, use: "sig" })),
    },
    sign: (claims) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: ALGORITHM, typ: "JWT", kid })
        .setIssuer(ISSUER)
        .sign(signingKey),
    verify: async (token, audience) => {
      const { payload, protectedHeader } = await jwtVerify(
        token,
        (header: JWTHeaderParameters) => named(header.kid).key,
        { algorithms: [ALGORITHM], issuer: ISSUER, audience, requiredClaims: ["exp", "sub", "jti"] },
      );
      return { payload, retired: named(protectedHeader.kid).retired };
    },
  };
}

function parseKeys(text: string): RelayKeys {
  try {
    return relayKeysSchema.parse(JSON.parse(text));
  } catch {
    throw unconfigured("RELAY_KEYS is not a JWKS of Ed25519 keys that begins with a private one");
  }
}

function unconfigured(message: string): MatrxError {
  return relayError("UNAVAILABLE", message, {
    hint: "Run `npm start` or `npm run deploy` to create the relay's secrets",
  });
}
