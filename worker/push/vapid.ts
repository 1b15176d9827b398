/** The key by which push services know who sends (VAPID, RFC 8292): each account's own, made when it is first asked for. */
import { base64url, type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from "jose";

interface Token {
  readonly text: string;
  /** Until when it is used, in milliseconds since 1970. */
  readonly until: number;
}

const KEY = "push_key";
const ALGORITHM = "ES256";
/** How long a token is valid, and how long it is used; RFC 8292 allows a day. In milliseconds. */
const VALID = 12 * 60 * 60_000;
const USED = 6 * 60 * 60_000;

export class Vapid {
  readonly #kv: SyncKvStorage;
  #pair: Promise<Pair> | undefined;
  /** By push service and contact. */
  readonly #tokens = new Map<string, Token>();

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
  }

  /** What a browser subscribes with: the key's 65 bytes in base64url. */
  async publicKey(): Promise<string> {
    return (await this.#key()).publicKey;
  }

  /** The `Authorization` header for a push service; `contact` is the relay's address. */
  async authorization(service: string, contact: string, now: number): Promise<string> {
    const { publicKey } = await this.#key();
    return `vapid t=${await this.#token(service, contact, now)}, k=${publicKey}`;
  }

  /** The account was closed. */
  destroy(): void {
    this.#kv.delete(KEY);
    this.#pair = undefined;
    this.#tokens.clear();
  }

  async #token(service: string, contact: string, now: number): Promise<string> {
    const name = `${service} ${contact}`;
    const known = this.#tokens.get(name);
    if (known && known.until > now) return known.text;
    const { privateKey } = await this.#key();
    const text = await new SignJWT({ aud: service, sub: contact, exp: Math.floor((now + VALID) / 1000) })
      .setProtectedHeader({ alg: ALGORITHM, typ: "JWT" })
      .sign(privateKey);
    this.#tokens.set(name, { text, until: now + USED });
    return text;
  }

  #key(): Promise<Pair> {
    this.#pair ??= this.#readOrMake().catch((error: unknown) => {
      this.#pair = undefined;
      throw error;
    });
    return this.#pair;
  }

  async #readOrMake(): Promise<Pair> {
    const stored = this.#kv.get<JWK>(KEY);
    if (stored) return pairOf(stored);
    const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
    const made = await exportJWK(privateKey);
    this.#kv.put(KEY, made);
    return pairOf(made);
  }
}

interface Pair {
  readonly privateKey: CryptoKey;
  readonly publicKey: string;
}

async function pairOf(jwk: JWK): Promise<Pair> {
  const [x, y] = [jwk.x, jwk.y].map((half) => base64url.decode(half ?? ""));
  const point = Uint8Array.of(4, ...(x ?? []), ...(y ?? []));
  return {
    privateKey: (await importJWK(jwk, ALGORITHM)) as CryptoKey,
    publicKey: base64url.encode(point),
  };
}
