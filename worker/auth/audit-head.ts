/** The signature under the record's end. */
import type { AuditHead, SignedHead } from "@matrx/shared/audit.ts";
import { AUDIENCE } from "@matrx/shared/tokens.ts";
import type { Secrets } from "../secrets.ts";
import { signStatement } from "./keys.ts";

/** Signs a head. Throws MatrxError `UNAVAILABLE` if a secret is missing. */
export async function signHead(secrets: Secrets, head: AuditHead): Promise<SignedHead> {
  const { account, seq, hash, at } = head;
  const signed = await signStatement(secrets, AUDIENCE.auditHead, { sub: account, seq, hash, at });
  return { ...head, signed };
}
