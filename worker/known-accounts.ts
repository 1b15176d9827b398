/**
 * Accounts that a stranger may name: those that somebody has signed in to. A made-up one must not touch an Account object:
 * in workerd, touching one creates a file.
 */
import type { AccountId } from "@matrx/shared/ids.ts";
import type { Account } from "./account/account.ts";
import type { Env } from "./env.ts";
import { accountDirectory } from "./objects/directory.ts";

/** The account of an installation, which exists before anybody has signed in. */
const FIRST_ACCOUNT = "owner" as AccountId;

/** Accounts found by this isolate. None ever ends: one that is closed refuses by itself. */
const found = new Set<AccountId>([FIRST_ACCOUNT]);
const FOUND_MAX = 10_000;

/** The object of an account; undefined if there is no such account. */
export async function knownAccount(
  env: Pick<Env, "ACCOUNT" | "DIRECTORY">,
  account: AccountId,
): Promise<DurableObjectStub<Account> | undefined> {
  if (!found.has(account)) {
    if (!(await accountDirectory(env.DIRECTORY).hasAccount(account))) return undefined;
    remember(account);
  }
  return env.ACCOUNT.getByName(account);
}

/** Notes that somebody signed in to an account. */
export async function noteAccount(env: Pick<Env, "DIRECTORY">, account: AccountId): Promise<void> {
  if (found.has(account)) return;
  await accountDirectory(env.DIRECTORY).addAccount(account);
  remember(account);
}

function remember(account: AccountId): void {
  if (found.size < FOUND_MAX) found.add(account);
}
