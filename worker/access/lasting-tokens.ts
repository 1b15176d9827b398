/** Tokens that live for weeks, as the Worker issues them and asks for them: see `token-hash.ts`. */
import type { Grant } from "@matrx/shared/grant.ts";
import type { AccountId, GrantId } from "@matrx/shared/ids.ts";
import { AUDIENCE } from "@matrx/shared/tokens.ts";
import { signToken, type TokenClaims } from "../auth/keys.ts";
import { hashOf, type Keeper } from "../auth/token-hash.ts";
import type { Env } from "../env.ts";
import { knownAccount } from "../known-accounts.ts";
import { unwrap } from "../outcome.ts";

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
