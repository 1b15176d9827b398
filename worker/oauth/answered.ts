/** A client's request is answered once: several pages may show it, and the first answer counts. */
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import { type AccountId, hexOf } from "@matrx/shared/ids.ts";
import type { RequestAnswer } from "@matrx/shared/oauth-api.ts";
import type { Env } from "../env.ts";
import { grantStore, PREFIX } from "../objects/oauth-store.ts";
import type { Authorization } from "./authorization.ts";

/** Clients make each request anew (RFC 7636, 4.1). One that does not can come back after this long, in milliseconds. */
const KEPT = 60 * 60_000;

/** What the account answered already; null: nothing. */
export async function answerTo(
  env: Env,
  account: AccountId,
  authorization: Authorization,
): Promise<RequestAnswer | null> {
  const entry = await grantStore(env.OAUTH_STORE, account).get(await keyOf(authorization));
  return (entry?.value as RequestAnswer | undefined) ?? null;
}

/** Does `act` for the first answer, and takes it back if that fails. Throws MatrxError for any other. */
export async function answerOnce<T>(
  env: Env,
  account: AccountId,
  { authorization, answer }: { authorization: Authorization; answer: RequestAnswer },
  act: () => Promise<T>,
): Promise<T> {
  const store = grantStore(env.OAUTH_STORE, account);
  const key = await keyOf(authorization);
  const earlier = await store.putFirst(key, answer, Date.now() + KEPT);
  if (earlier !== undefined) throw answeredError(earlier as RequestAnswer);
  try {
    return await act();
  } catch (error) {
    await store.delete(key);
    throw error;
  }
}

/** What apps write may be secret: it is kept as a hash. */
async function keyOf({ request }: Authorization): Promise<string> {
  const { clientId, redirectUri, codeChallenge, state } = request;
  const all = new TextEncoder().encode(JSON.stringify([clientId, redirectUri, codeChallenge, state]));
  return PREFIX.answered + hexOf(new Uint8Array(await crypto.subtle.digest("SHA-256", all)));
}

function answeredError(earlier: RequestAnswer): MatrxError {
  return relayError("CONFLICT", `You ${earlier} this request already, on another page`, {
    hint: "If the app does not go on, connect it again there",
    details: { field: "request" },
  });
}
