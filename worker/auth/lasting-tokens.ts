/**
 * Tokens that live for weeks. Whoever issues one keeps the hash of its id, which is random. So after the key that signed
 * it was retired, it is told from what a thief of that key signs; and a thief of the hashes cannot sign it either.
 */
import { MatrxError } from "@matrx/shared/errors.ts";
import type { Grant } from "@matrx/shared/grant.ts";
import type { AccountId, GrantId } from "@matrx/shared/ids.ts";
import { AUDIENCE } from "@matrx/shared/tokens.ts";
import { base64url } from "jose";
import type { Env } from "../env.ts";
import { knownAccount } from "../known-accounts.ts";
import { unwrap } from "../outcome.ts";
import { signToken, type TokenClaims, unauthenticated } from "./keys.ts";

/** Keeps a token's hash: true if it has this one. */
type Keeper = (hash: string) => boolean | Promise<boolean>;

/** What is kept of a token's id. */
export async function hashOf(id: string): Promise<string> {
  return base64url.encode(
    new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(id))),
  );
}

/** The one token of a grant that did not come from a browser. Throws MatrxError `UNAUTHENTICATED` if the grant ended. */
export async function issueToken(
  env: Env,
  { account, id, expires }: Pick<Grant, "account" | "id" | "expires">,
) {
  const token = crypto.randomUUID();
  unwrap(await env.ACCOUNT.getByName(account).keepToken(id, await hashOf(token)));
  const seconds = Math.floor((expires - Date.now()) / 1000);
  return signToken(env, AUDIENCE.caller, { account, subject: id, id: token }, seconds);
}

/** Refuses a token by a retired key unless its hash is kept. Throws MatrxError `UNAUTHENTICATED`. */
export async function requireKept(
  { id, retired }: Pick<TokenClaims, "id"> & { retired: boolean },
  keeps: Keeper,
): Promise<void> {
  if (retired && !(await keeps(await hashOf(id)))) throw new MatrxError(unkept());
}

/** The account of a caller's token. One that nobody ever signed in to is not asked: its object would be created. */
export function accountKeeper(
  env: Pick<Env, "ACCOUNT" | "DIRECTORY">,
  { account, subject }: Pick<TokenClaims, "account" | "subject">,
): Keeper {
  return async (hash) => {
    const known = await knownAccount(env, account as AccountId);
    return (await known?.keepsToken(subject as GrantId, hash)) ?? false;
  };
}

function unkept() {
  return unauthenticated(
    "The relay's keys were replaced, and this token is not one that the relay knows it gave",
    "Create a new token on the relay's page, or sign in again (`matrx login`)",
  );
}
