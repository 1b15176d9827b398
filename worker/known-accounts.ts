/**
 * Accounts that a stranger may name, in order to sign in. A made-up one must not touch an Account object: in workerd,
 * touching one creates a file.
 */
import type { AccountId } from "@matrx/shared/ids.ts";
import type { Env } from "./env.ts";
import type { Account } from "./objects/account.ts";
import { accountDirectory } from "./objects/directory.ts";

/** Accounts found by this isolate. None ever ends: one that is closed refuses by itself. */
const found = new Set<AccountId>();
const FOUND_MAX = 10_000;

/** The object of an account with a passkey or recovery codes; undefined if there is no such account. */
export async function knownAccount(
  env: Env,
  account: AccountId,
): Promise<DurableObjectStub<Account> | undefined> {
  if (!found.has(account)) {
    if (!(await accountDirectory(env.DIRECTORY).hasAccount(account))) return undefined;
    if (found.size >= FOUND_MAX) found.clear();
    found.add(account);
  }
  return env.ACCOUNT.getByName(account);
}
