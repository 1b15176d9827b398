/** The relay's secrets: made once, kept in files, never replaced by themselves. */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { join } from "node:path";
import { calculateJwkThumbprint } from "jose";
import * as z from "zod";
import { messageOf, Problem } from "../problem.ts";
import { readIfThere, writePrivate } from "./data-folder.ts";

export interface Secrets {
  /** `RELAY_KEYS`: a JWKS, as text; the first key signs. */
  relayKeys: string;
  /** `CLAIM_SECRET`: signs the codes of sign-in links. */
  claimSecret: string;
}

const bytes32 = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

const jwksSchema = z.object({
  keys: z
    .array(
      z.looseObject({
        kty: z.literal("OKP"),
        crv: z.literal("Ed25519"),
        x: bytes32,
        d: bytes32,
        kid: z.string().min(1),
        alg: z.literal("EdDSA"),
        use: z.literal("sig"),
      }),
    )
    .min(1),
});

/** Reads the secrets of a folder; makes those that are not there. Throws Problem for damaged ones. */
export async function openSecrets(folder: string): Promise<Secrets> {
  return {
    relayKeys: await openRelayKeys(join(folder, "keys.json")),
    claimSecret: openClaimSecret(join(folder, "claim-secret")),
  };
}

async function openRelayKeys(file: string): Promise<string> {
  const kept = readIfThere(file);
  if (kept === undefined) {
    const made = JSON.stringify({ keys: [await makeSigningKey()] });
    writePrivate(file, `${made}\n`);
    return made;
  }
  try {
    const keys: unknown = JSON.parse(kept);
    jwksSchema.parse(keys);
    return JSON.stringify(keys);
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error).split("\n")[0] : messageOf(error);
    throw new Problem(
      `The relay's keys in ${file} are damaged (${reason}). Restore them from a backup, or move the file away, ` +
        "and new ones are created. Then every bare device and script needs a new token, and every browser must sign in again.",
    );
  }
}

async function makeSigningKey() {
  const { privateKey } = generateKeyPairSync("ed25519");
  const jwk = privateKey.export({ format: "jwk" });
  return { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: "EdDSA", use: "sig" };
}

function openClaimSecret(file: string): string {
  const kept = readIfThere(file)?.trim();
  if (kept === undefined) {
    const made = randomBytes(32).toString("base64url");
    writePrivate(file, `${made}\n`);
    return made;
  }
  if (bytes32.safeParse(kept).success) return kept;
  throw new Problem(
    `The claim secret in ${file} is damaged (it must be 43 characters of base64url). Restore it from a backup, or ` +
      "move the file away, and a new one is created. Only unused sign-in links stop working.",
  );
}
