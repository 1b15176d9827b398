/**
 * Tokens that live for weeks. Whoever issues one keeps the hash of its id, which is random. So after the key that signed
 * it was retired, it is told from what a thief of that key signs; and a thief of the hashes cannot sign it either.
 */
import { MatrxError } from "@matrx/shared/errors.ts";
import { base64url } from "jose";
import { type TokenClaims, unauthenticated } from "./keys.ts";

/** Keeps a token's hash: true if it has this one. */
export type Keeper = (hash: string) => boolean | Promise<boolean>;

/** What is kept of a token's id. */
export async function hashOf(id: string): Promise<string> {
  return base64url.encode(
    new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(id))),
  );
}

/** Refuses a token by a retired key unless its hash is kept. Throws MatrxError `UNAUTHENTICATED`. */
export async function requireKept(
  { id, retired }: Pick<TokenClaims, "id"> & { retired: boolean },
  keeps: Keeper,
): Promise<void> {
  if (retired && !(await keeps(await hashOf(id)))) throw new MatrxError(unkept());
}

function unkept() {
  return unauthenticated(
    "The relay's keys were replaced, and this token is not one that the relay knows it gave",
    "Create a new token on the relay's page, or sign in again (`matrx login`)",
  );
}
