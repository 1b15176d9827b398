/** The relay's secrets; without them it answers 503 and cannot be claimed. */
export interface Secrets {
  /** JWKS with private Ed25519 keys; the first one signs. */
  RELAY_KEYS?: string;
  /** Signs sign-in links. */
  CLAIM_SECRET?: string;
}
