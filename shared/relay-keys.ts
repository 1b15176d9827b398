/** `RELAY_KEYS`: the keys that sign the relay's tokens, and the public halves of those that were retired. */
import * as z from "zod";

const bytes32 = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

const publicHalf = {
  kty: z.literal("OKP"),
  crv: z.literal("Ed25519"),
  kid: z.string().min(1),
  x: bytes32,
  alg: z.literal("EdDSA").optional(),
  use: z.literal("sig").optional(),
};

const signingKeySchema = z.looseObject({
  ...publicHalf,
  d: bytes32,
  retired: z.undefined("A retired key must have no private half").optional(),
});
export type SigningKey = z.infer<typeof signingKeySchema>;

/** A token that it signed counts only where the hash of the token's id is kept (worker/auth/token-hash.ts). */
const retiredKeySchema = z.strictObject({ ...publicHalf, retired: z.iso.datetime() });
export type RetiredKey = z.infer<typeof retiredKeySchema>;

/** The first key signs; the others that are not retired are as good. */
export const relayKeysSchema = z.object({
  keys: z
    .tuple([signingKeySchema], z.union([signingKeySchema, retiredKeySchema]))
    .refine((keys) => new Set(keys.map(({ kid }) => kid)).size === keys.length, "Two keys have the same kid"),
});
export type RelayKeys = z.infer<typeof relayKeysSchema>;

export function isRetired(key: SigningKey | RetiredKey): key is RetiredKey {
  return key.retired !== undefined;
}
