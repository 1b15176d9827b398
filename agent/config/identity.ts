/** The device's key: created at pairing, never leaves this machine; the relay knows only the public half. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from "node:crypto";
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import { hexOf } from "@matrx/shared/ids.ts";
import type { DeviceAssertion, EarlyAssertion } from "@matrx/shared/tokens.ts";
import { readPrivateFile, writePrivateFile } from "../platform/private-file.ts";
import type { Home } from "./app-dirs.ts";

export interface Identity {
  readonly privateKey: KeyObject;
  /** `x` of the public JWK: 32 bytes in base64url. */
  readonly publicKey: string;
}

/** A new Ed25519 key, in memory only. */
export function makeIdentity(): Identity {
  return identityOf(generateKeyPairSync("ed25519").privateKey);
}

/** Writes the key (PKCS #8, PEM, 0600). */
export function writeIdentity(home: Home, identity: Identity): void {
  writePrivateFile(home.keyFile, identity.privateKey.export({ type: "pkcs8", format: "pem" }).toString());
}

/** Reads the key. Throws MatrxError saying what to do. */
export function readIdentity(home: Home): Identity {
  const pem = readPrivateFile(home.keyFile);
  if (pem === undefined) throw noKey(`There is no key at ${home.keyFile}`);
  try {
    return identityOf(createPrivateKey(pem));
  } catch (cause) {
    throw noKey(`${home.keyFile} is not an Ed25519 key`, cause);
  }
}

/** Signs what the relay asked for, without a time: clocks may be wrong, and a nonce belongs to one connection only. */
export async function signAssertion(
  identity: Identity,
  assertion: DeviceAssertion | EarlyAssertion,
): Promise<string> {
  const { SignJWT } = await import("jose");
  return new SignJWT({ ...assertion }).setProtectedHeader({ alg: "EdDSA" }).sign(identity.privateKey);
}

/** The first 16 bytes of the public key's SHA-256, in groups of 4 hex digits, for the owner to compare. */
export function fingerprintOf(publicKey: string): string {
  const digest = createHash("sha256").update(Buffer.from(publicKey, "base64url")).digest();
  return hexOf(digest.subarray(0, 16)).replace(/(.{4})(?=.)/g, "$1 ");
}

function identityOf(privateKey: KeyObject): Identity {
  if (privateKey.asymmetricKeyType !== "ed25519") throw new TypeError("not Ed25519");
  const { x } = createPublicKey(privateKey).export({ format: "jwk" });
  if (typeof x !== "string") throw new TypeError("not Ed25519");
  return { privateKey, publicKey: x };
}

function noKey(message: string, cause?: unknown): MatrxError {
  return agentError("UNAUTHENTICATED", message, {
    hint: "Pair this machine again: matrx pair --replace",
    cause,
  });
}
