/** The relay's secrets: made once, kept in files, replaced only by `npm run rotate`. */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { join } from "node:path";
import { calculateJwkThumbprint } from "jose";
import * as z from "zod";
import { relayKeysSchema, type SigningKey } from "../../shared/relay-keys.ts";
import { messageOf, Problem } from "../problem.ts";
import { readIfThere, writePrivate } from "./data-folder.ts";

export interface Secrets {
  /** `RELAY_KEYS`: a JWKS, as text; the first key signs. */
  relayKeys: string;
  /** `CLAIM_SECRET`: signs the codes of sign-in links. */
  claimSecret: string;
}

const bytes32 = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

/** Reads the secrets of a folder; makes those that are not there. Throws Problem for damaged ones. */
export async function openSecrets(folder: string): Promise<Secrets> {
  return {
    relayKeys: await openRelayKeys(keysFile(folder)),
    claimSecret: openClaimSecret(claimFile(folder)),
  };
}

/** Replaces the secrets of a folder. Throws Problem. */
export function replaceSecrets(folder: string, { relayKeys, claimSecret }: Secrets): void {
  writeLine(claimFile(folder), claimSecret);
  writeLine(keysFile(folder), relayKeys);
}

export function keysFile(folder: string): string {
  return join(folder, "keys.json");
}

function claimFile(folder: string): string {
  return join(folder, "claim-secret");
}

async function openRelayKeys(file: string): Promise<string> {
  const kept = readIfThere(file);
  if (kept === undefined) {
    const made = JSON.stringify({ keys: [await makeSigningKey()] });
    writeLine(file, made);
    return made;
  }
  try {
    const keys: unknown = JSON.parse(kept);
    relayKeysSchema.parse(keys);
    return JSON.stringify(keys);
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error).split("\n")[0] : messageOf(error);
    throw new Problem(
      `The relay's keys in ${file} are damaged (${reason}). Restore them from a backup, or move the file away, ` +
        "and new ones are created. Then every bare device and script needs a new token, and every browser must sign in again.",
    );
  }
}

export async function makeSigningKey(): Promise<SigningKey> {
  const jwk = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  const { x = "", d = "" } = jwk;
  const kid = await calculateJwkThumbprint(jwk);
  return { kty: "OKP", crv: "Ed25519", x, d, kid, alg: "EdDSA", use: "sig" };
}

export function makeClaimSecret(): string {
  return randomBytes(32).toString("base64url");
}

function writeLine(file: string, text: string): void {
  writePrivate(file, `${text}\n`);
}

function openClaimSecret(file: string): string {
  const kept = readIfThere(file)?.trim();
  if (kept === undefined) {
    const made = makeClaimSecret();
    writeLine(file, made);
    return made;
  }
  if (bytes32.safeParse(kept).success) return kept;
  throw new Problem(
    `The claim secret in ${file} is damaged (it must be 43 characters of base64url). Restore it from a backup, or ` +
      "move the file away, and a new one is created. Only unused sign-in links stop working.",
  );
}
