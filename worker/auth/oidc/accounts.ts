/** Which account a person who signed in at an issuer gets. */
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import { type AccountId, base32Of } from "@matrx/shared/ids.ts";
import { emailKey, type Issuer } from "@matrx/shared/oidc-issuers.ts";
import { oneLine } from "@matrx/shared/one-line.ts";

/** Who somebody is, says an issuer. */
export interface Identity {
  /** As the issuer spells itself. */
  issuer: string;
  sub: string;
  /** Only if the issuer has verified that it is this person's. */
  email?: string;
}

/** 120 bits, so that no two people share an account. */
const ID_CHARS = 24;

/** The account of a person. Throws MatrxError `PERMISSION_DENIED` for one who is not listed. */
export async function accountFor(issuer: Issuer, identity: Identity): Promise<AccountId> {
  const { accounts } = issuer;
  if (accounts === "open") return openAccount(identity);
  const { sub, email } = identity;
  // A sub with an `@` is no proof of an e-mail address.
  const listed =
    (sub.includes("@") ? undefined : accounts.get(sub)) ?? (email && accounts.get(emailKey(email)));
  if (listed) return listed as AccountId;
  throw notListed(issuer, identity);
}

/** Follows from issuer and sub alone: an e-mail address or a name may pass to another person. */
async function openAccount({ issuer, sub }: Identity): Promise<AccountId> {
  const person = new TextEncoder().encode(JSON.stringify([issuer, sub]));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", person));
  return `oidc-${base32Of(digest.subarray(0, ID_CHARS))}` as AccountId;
}

function notListed({ name }: Issuer, { sub, email }: Identity): MatrxError {
  const who = oneLine(email ?? sub, 255);
  return relayError("PERMISSION_DENIED", `${who} of ${name} has no account on this relay`, {
    hint: email
      ? "Ask the relay's owner to list this address"
      : "Ask the relay's owner to list this name. An e-mail address counts only once the issuer has verified it",
  });
}
