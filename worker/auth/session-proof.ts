/**
 * The proof that a page holds its session's key: a JWT signed by it (DPoP, RFC 9449), with a nonce of ours that works once.
 * The cookie alone is worth nothing: every port of this host is sent it, and a stolen cookie jar holds it.
 */
import { MatrxError, relayError } from "@matrx/shared/errors.ts";
import {
  PROOF_HEADER,
  proofClaimsSchema,
  type SessionKey,
  sessionKeySchema,
} from "@matrx/shared/session-api.ts";
import { AUDIENCE, LIFETIME } from "@matrx/shared/tokens.ts";
import { calculateJwkThumbprint, EmbeddedJWK, importJWK, jwtVerify } from "jose";
import type { Secrets } from "../secrets.ts";
import { type AddressEnv, ownOrigin } from "./address.ts";
import { noCredential, reasonOf, signToken, unauthenticated, verifyToken } from "./keys.ts";

export interface SessionProof {
  /** Of the key that signed it (RFC 7638). */
  thumbprint: string;
  /** It must be used up before the proof counts. */
  nonce: { id: string; expires: number };
}

/** What a session keeps of its key (RFC 7638). Throws MatrxError `INVALID_PARAMETERS` if it is not a point on the curve. */
export async function thumbprintOf(key: SessionKey): Promise<string> {
  try {
    await importJWK(key, "ES256");
  } catch (cause) {
    throw relayError("INVALID_PARAMETERS", "key: is not a P-256 public key", {
      hint: "Send the public half of a new key, as WebCrypto exports it",
      cause,
    });
  }
  return calculateJwkThumbprint(key, "sha256");
}

/** A nonce for the next proof of any session. */
export function makeNonce(secrets: Secrets): Promise<string> {
  const names = { account: "relay", subject: "nonce", id: crypto.randomUUID() };
  return signToken(secrets, AUDIENCE.nonce, names, LIFETIME.nonce);
}

/** Checks the proof that came with a request. Throws MatrxError `UNAUTHENTICATED`. */
export async function verifyProof(env: Secrets & AddressEnv, request: Request): Promise<SessionProof> {
  const { thumbprint, nonce } = await readProof(env, request);
  const { id, expires } = await verifyToken(env, AUDIENCE.nonce, nonce);
  return { thumbprint, nonce: { id, expires } };
}

/** Whose key signed the proof that came with a request. Its nonce is not checked yet. Throws MatrxError `UNAUTHENTICATED`. */
export async function readProof(
  env: AddressEnv,
  request: Request,
): Promise<{ thumbprint: string; nonce: string }> {
  const proof = request.headers.get(PROOF_HEADER);
  if (!proof) throw new MatrxError(noCredential("The session's key must sign this request", SIGN_ANEW));
  const { claims, thumbprint } = await read(proof);
  const here = new URL(request.url);
  if (claims.htm !== request.method || claims.htu !== ownOrigin(env, request) + here.pathname)
    throw new MatrxError(unauthenticated("The proof was signed for another request", SIGN_ANEW));
  return { thumbprint, nonce: claims.nonce };
}

const SIGN_ANEW = "Sign a proof for this method and address, with the nonce of the header DPoP-Nonce";

async function read(proof: string) {
  try {
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      algorithms: ["ES256"],
      typ: "dpop+jwt",
    });
    const key = sessionKeySchema.parse(protectedHeader.jwk);
    return { claims: proofClaimsSchema.parse(payload), thumbprint: await thumbprintOf(key) };
  } catch (error) {
    throw new MatrxError(unauthenticated(reasonOf(error).replace("token", "proof"), SIGN_ANEW), error);
  }
}
