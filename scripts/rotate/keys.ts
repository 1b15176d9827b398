/** What a rotation makes of the relay's keys. */
import { isRetired, type RelayKeys, type RetiredKey, relayKeysSchema } from "../../shared/relay-keys.ts";
import { Problem } from "../problem.ts";
import { makeSigningKey } from "../start/secrets.ts";

/** Longer than any token lives, in milliseconds: what a key signed that was retired before has expired. */
const TOKENS_LIVE = 366 * 24 * 60 * 60_000;

/** More would not fit into a secret at Cloudflare, which holds 5 KB. */
const RETIRED_MAX = 16;

export function parseKeys(relayKeys: string): RelayKeys {
  return relayKeysSchema.parse(JSON.parse(relayKeys));
}

/** The retired ones among the keys. */
export function retiredIn({ keys }: RelayKeys): RetiredKey[] {
  return keys.filter(isRetired);
}

/** A new first key; of the others, the public halves of those that may have signed a token that still lives. Throws Problem. */
export async function rotated({ keys }: RelayKeys, now: number): Promise<RelayKeys> {
  const retired = keys
    .map((key) => (isRetired(key) ? key : retire(key, now)))
    .filter((key) => Date.parse(key.retired) > now - TOKENS_LIVE);
  if (retired.length > RETIRED_MAX)
    throw new Problem(
      `There are already ${RETIRED_MAX} retired keys. Remove them with \`npm run rotate -- --drop\`, which ends every token that they signed, and rotate then.`,
    );
  return { keys: [await makeSigningKey(), ...retired] };
}

/** The keys without those that were retired. */
export function withoutRetired({ keys: [first, ...others] }: RelayKeys): RelayKeys {
  return { keys: [first, ...others.filter((key) => !isRetired(key))] };
}

function retire({ kty, crv, kid, x }: RelayKeys["keys"][0], now: number): RetiredKey {
  return { kty, crv, kid, x, alg: "EdDSA", use: "sig", retired: new Date(now).toISOString() };
}
