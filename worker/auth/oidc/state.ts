/**
 * A sign-in that is under way at an issuer. The relay stores nothing of it: `state` is a token of ours that names the issuer
 * and the browser's key, and the secrets of the exchange are derived from it. Only that browser can finish.
 */
import { MatrxError } from "@matrx/shared/errors.ts";
import { AUDIENCE, LIFETIME } from "@matrx/shared/tokens.ts";
import { base64url } from "jose";
import type { Secrets } from "../../secrets.ts";
import { signToken, unauthenticated, verifyToken } from "../keys.ts";

export interface PendingSignIn {
  /** Of the attempt, which counts once. */
  id: string;
  /** Milliseconds since 1970. */
  expires: number;
  state: string;
  /** What the ID token must contain. */
  nonce: string;
  /** The secret of PKCE (RFC 7636), which never leaves the relay before the exchange. */
  verifier: string;
}

/** Begins a sign-in at an issuer for the browser whose key has this thumbprint. */
export async function beginSignIn(
  secrets: Secrets,
  issuer: string,
  thumbprint: string,
): Promise<PendingSignIn> {
  const id = crypto.randomUUID();
  const names = { account: issuer, subject: thumbprint, id };
  const state = await signToken(secrets, AUDIENCE.issuer, names, LIFETIME.issuer);
  return { state, id, expires: Date.now() + LIFETIME.issuer * 1000, ...(await derived(secrets, id)) };
}

/** The sign-in that this browser began at this issuer. Throws MatrxError `UNAUTHENTICATED`. */
export async function pendingSignIn(
  secrets: Secrets,
  issuer: string,
  { nonce: state, thumbprint }: { nonce: string; thumbprint: string },
): Promise<PendingSignIn> {
  const { account, subject, id, expires } = await verifyToken(secrets, AUDIENCE.issuer, state);
  if (account !== issuer || subject !== thumbprint)
    throw new MatrxError(
      unauthenticated("This sign-in was begun elsewhere", "Start it on the page where you want to sign in"),
    );
  return { state, id, expires, ...(await derived(secrets, id)) };
}

/** The secrets of one attempt; nobody without `CLAIM_SECRET` can tell them. */
async function derived({ CLAIM_SECRET }: Secrets, id: string) {
  const key = await crypto.subtle.importKey("raw", bytes(CLAIM_SECRET), "HKDF", false, ["deriveBits"]);
  const secret = async (purpose: string) => {
    const info = bytes(`matrx:issuer ${purpose}`);
    const hkdf = { name: "HKDF", hash: "SHA-256", salt: bytes(id), info };
    return base64url.encode(new Uint8Array(await crypto.subtle.deriveBits(hkdf, key, 256)));
  };
  return { nonce: await secret("nonce"), verifier: await secret("verifier") };
}

function bytes(text: string | undefined): Uint8Array {
  return new TextEncoder().encode(text);
}
