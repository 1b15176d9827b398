/** Recovery codes: a way in for who has lost every passkey. Each is `<account>.XXXX-XXXX-XXXX-XXXX` and works once. */
import * as z from "zod";
import { type AccountId, isAccountId, randomBase32 } from "./ids.ts";
import { sessionKeySchema } from "./session-api.ts";

/** 80 bits, which nobody guesses. */
const CHARACTERS = 16;
const SECRET = /^[0-9a-hjkmnp-tv-z]{16}$/;

/** Answer to `POST /v1/recovery-codes`: the only time that they are shown. */
export const recoveryCodesSchema = z.object({ codes: z.array(z.string()) });

/** Answer to `GET /v1/recovery-codes` */
export const recoveryCodesLeftSchema = z.object({
  left: z.int().describe("How many have not been used"),
  created: z.iso.datetime().nullable(),
});
export type RecoveryCodesLeft = z.infer<typeof recoveryCodesLeftSchema>;

/** `POST /v1/sign-in/recovery` */
export const recoverySignInSchema = z.strictObject({ code: z.string().max(256), key: sessionKeySchema });

/** A code as somebody typed it. */
export interface RecoveryCode {
  account: AccountId;
  secret: string;
}

export function makeRecoveryCode(account: AccountId): RecoveryCode {
  return { account, secret: randomBase32(CHARACTERS) };
}

/** As it is shown and written down. */
export function recoveryCodeText({ account, secret }: RecoveryCode): string {
  return `${account}.${secret.toUpperCase().match(/.{4}/g)?.join("-")}`;
}

/**
 * Reads a code in any letter case, with or without its dashes, and with the letters that Crockford's base32 leaves out
 * because they look like others. Undefined if it is none.
 */
export function readRecoveryCode(text: string): RecoveryCode | undefined {
  const [, named = "", typed = ""] = /^([^.]*)\.(.*)$/s.exec(text) ?? [];
  const account = named.trim().toLowerCase();
  const secret = typed.toLowerCase().replace(/[\s-]/g, "").replaceAll("o", "0").replace(/[il]/g, "1");
  return isAccountId(account) && SECRET.test(secret) ? { account, secret } : undefined;
}
