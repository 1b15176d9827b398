/** An authenticator in software: makes passkeys and signs with them, rightly unless told otherwise. */
import type {
  CreatedCredential,
  PasskeyCreation,
  PasskeyRequest,
  UsedCredential,
} from "@matrx/shared/passkey-api.ts";
import { isoCBOR } from "@simplewebauthn/server/helpers";
import { base64url } from "jose";
import { ALGORITHMS, type PasskeyAlgorithm } from "./passkey-algorithm.ts";
import { ORIGIN } from "./request.ts";

/** What an attacker makes otherwise. */
export interface Twist {
  origin?: string;
  /** The relying party that the authenticator believes to talk to. */
  host?: string;
  challenge?: string;
  type?: string;
  crossOrigin?: boolean;
  topOrigin?: string;
  /** Flags of the authenticator's data; present and verified unless told otherwise. */
  flags?: number;
  counter?: number;
  userHandle?: string;
  /** Signs with this one's key. */
  signedBy?: Authenticator;
  /** The attestation that a page cannot ask for. */
  attestation?: { fmt: string; attStmt: ReadonlyMap<string, unknown> };
}

export const FLAG = { present: 0x01, verified: 0x04, backupEligible: 0x08, backedUp: 0x10, attested: 0x40 };

/** One passkey, for one account. */
export class Authenticator {
  readonly id: string;
  /** As of a security key; synced passkeys stay at 0. */
  counter = 0;
  userHandle = "";
  readonly #algorithm: PasskeyAlgorithm;
  readonly #keys: CryptoKeyPair;

  private constructor(id: string, algorithm: PasskeyAlgorithm, keys: CryptoKeyPair) {
    this.id = id;
    this.#algorithm = algorithm;
    this.#keys = keys;
  }

  static async open({
    id = base64url.encode(crypto.getRandomValues(new Uint8Array(16))),
    algorithm = ALGORITHMS.ES256,
  }: {
    id?: string;
    algorithm?: PasskeyAlgorithm;
  } = {}): Promise<Authenticator> {
    const keys = await crypto.subtle.generateKey(algorithm.key, true, ["sign", "verify"]);
    return new Authenticator(id, algorithm, keys as CryptoKeyPair);
  }

  /** `navigator.credentials.create` */
  async create(
    { rp, user, challenge }: PasskeyCreation["options"],
    twist: Twist = {},
  ): Promise<CreatedCredential> {
    this.userHandle = user.id;
    const flags = (twist.flags ?? FLAG.present | FLAG.verified) | FLAG.attested;
    const authData = await this.#data(twist.host ?? rp.id, flags, this.#attested(await this.#publicKey()));
    const { fmt, attStmt } = twist.attestation ?? { fmt: "none", attStmt: new Map() };
    const attestationObject = isoCBOR.encode(
      new Map<string, unknown>([
        ["fmt", fmt],
        ["attStmt", attStmt],
        ["authData", authData],
      ]) as never,
    );
    const clientDataJSON = clientData({ type: "webauthn.create", challenge, ...twist });
    return {
      ...this.#named(),
      response: {
        clientDataJSON: base64url.encode(clientDataJSON),
        attestationObject: base64url.encode(attestationObject),
        transports: ["internal"],
      },
    };
  }

  /** `navigator.credentials.get` */
  async get({ rpId, challenge }: PasskeyRequest["options"], twist: Twist = {}): Promise<UsedCredential> {
    const flags = twist.flags ?? FLAG.present | FLAG.verified;
    const authData = await this.#data(twist.host ?? rpId, flags, new Uint8Array(), twist.counter);
    const clientDataJSON = clientData({ type: "webauthn.get", challenge, ...twist });
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", clientDataJSON));
    const signature = await (twist.signedBy ?? this).#sign(joined(authData, hash));
    return {
      ...this.#named(),
      response: {
        clientDataJSON: base64url.encode(clientDataJSON),
        authenticatorData: base64url.encode(authData),
        signature: base64url.encode(signature),
        userHandle: twist.userHandle ?? this.userHandle,
      },
    };
  }

  #named() {
    return { id: this.id, rawId: this.id, type: "public-key" as const };
  }

  async #data(
    host: string,
    flags: number,
    attested: Uint8Array,
    counter = this.counter,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const hostHash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(host));
    const count = new Uint8Array(4);
    new DataView(count.buffer).setUint32(0, counter);
    return joined(new Uint8Array(hostHash), new Uint8Array([flags]), count, attested);
  }

  /** Attested credential data: AAGUID, id, public key. */
  #attested(publicKey: Uint8Array): Uint8Array {
    const id = base64url.decode(this.id);
    return joined(new Uint8Array(16), new Uint8Array([id.length >> 8, id.length & 0xff]), id, publicKey);
  }

  async #publicKey(): Promise<Uint8Array> {
    const jwk = (await crypto.subtle.exportKey("jwk", this.#keys.publicKey)) as JsonWebKey;
    return isoCBOR.encode(new Map(this.#algorithm.members(jwk)) as never);
  }

  async #sign(data: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
    const raw = await crypto.subtle.sign(this.#algorithm.sign, this.#keys.privateKey, data);
    return this.#algorithm.signature(new Uint8Array(raw));
  }
}

function clientData({ type, challenge, origin, crossOrigin = false, topOrigin }: Twist) {
  const data = { type, challenge, origin: origin ?? ORIGIN, crossOrigin, topOrigin };
  return new TextEncoder().encode(JSON.stringify(data));
}

function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
