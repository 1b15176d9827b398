/** The recovery codes of an account. Only their hashes are kept; 80 random bits need no salt. */
import type { Grant } from "@matrx/shared/grant.ts";
import { type GrantId, hexOf } from "@matrx/shared/ids.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import {
  makeRecoveryCode,
  type RecoveryCode,
  type RecoveryCodesLeft,
  recoveryCodeText,
} from "@matrx/shared/recovery-code.ts";
import { LIFETIME } from "@matrx/shared/tokens.ts";
import { unusableRecoveryCodeError } from "../auth/sign-in-errors.ts";
import { accountDirectory } from "../objects/directory.ts";
import { attempt, type Outcome } from "../outcome.ts";
import type { AccountContext, NewSession } from "./context.ts";

export class RecoveryCodes {
  readonly #context: AccountContext;

  constructor(context: AccountContext) {
    this.#context = context;
  }

  /** Makes new codes, as they are to be shown. The old ones no longer work. */
  make(person: GrantId): Promise<Outcome<string[]>> {
    return attempt(async () => {
      const { sql, env, id: account } = this.#context;
      this.#context.person(person);
      this.#context.countCredential();
      const codes = Array.from({ length: LIMITS.recoveryCodes }, () => makeRecoveryCode(account));
      const hashes = await Promise.all(codes.map(hashOf));
      await accountDirectory(env.DIRECTORY).addAccount(account);
      // Meanwhile the session may have ended.
      const by = this.#context.person(person);
      const now = Date.now();
      sql.exec("DELETE FROM recovery_codes");
      for (const hash of hashes)
        sql.exec("INSERT INTO recovery_codes (hash, created) VALUES (?, ?)", hash, now);
      this.#context.record.note({ type: "recovery_codes" }, by);
      return codes.map(recoveryCodeText);
    });
  }

  left(person: GrantId): Promise<Outcome<RecoveryCodesLeft>> {
    return attempt(() => {
      this.#context.person(person);
      const { left, created } = this.#context.sql
        .exec<{ left: number; created: number | null }>(
          "SELECT COUNT(*) AS left, MAX(created) AS created FROM recovery_codes",
        )
        .one();
      return { left, created: created === null ? null : new Date(created).toISOString() };
    });
  }

  /** Signs in whoever has a code, once. */
  signIn(code: RecoveryCode, session: NewSession): Promise<Outcome<Grant>> {
    return attempt(async () => {
      const hash = await hashOf(code);
      const { sql } = this.#context;
      const found = sql.exec("SELECT 1 FROM recovery_codes WHERE hash = ?", hash).toArray();
      if (found.length === 0) throw unusableRecoveryCodeError();
      const grant = this.#context.signIn("web", { ...session, how: "recovery_code" }, LIFETIME.web);
      sql.exec("DELETE FROM recovery_codes WHERE hash = ?", hash);
      return grant;
    });
  }
}

async function hashOf(code: RecoveryCode): Promise<string> {
  const bytes = new TextEncoder().encode(recoveryCodeText(code));
  return hexOf(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}
