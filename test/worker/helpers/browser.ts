/** What a page does with its session's key: keeps it, and signs proofs with it. */
import {
  PROOF_NONCE_HEADER,
  type ProofClaims,
  type SessionKey,
  sessionKeySchema,
} from "@matrx/shared/session-api.ts";
import { type CryptoKey, exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from "jose";
import { ask, ORIGIN } from "./request.ts";

export class Browser {
  readonly publicKey: SessionKey;
  readonly #privateKey: CryptoKey;

  private constructor(publicKey: SessionKey, privateKey: CryptoKey) {
    this.publicKey = publicKey;
    this.#privateKey = privateKey;
  }

  static async open(): Promise<Browser> {
    const { publicKey, privateKey } = await generateKeyPair("ES256");
    const { kty, crv, x, y } = await exportJWK(publicKey);
    return new Browser(sessionKeySchema.parse({ kty, crv, x, y }), privateKey);
  }

  /** A nonce for the next proof. */
  async nonce(): Promise<string> {
    const response = await ask("/v1/session", { method: "POST", headers: { Origin: ORIGIN } });
    return response.headers.get(PROOF_NONCE_HEADER) ?? "";
  }

  /** A proof for `POST /v1/session`, with a fresh nonce unless the claims say otherwise. */
  async proof(claims: Partial<ProofClaims> = {}, header: Partial<JWTHeaderParameters> = {}): Promise<string> {
    const usual = { htm: "POST", htu: `${ORIGIN}/v1/session`, jti: crypto.randomUUID() };
    return new SignJWT({ ...usual, nonce: claims.nonce ?? (await this.nonce()), ...claims })
      .setProtectedHeader({ typ: "dpop+jwt", alg: "ES256", jwk: this.publicKey, ...header })
      .setIssuedAt()
      .sign(this.#privateKey);
  }

  /** `POST /v1/session` with these headers and a proof. */
  async refresh(headers: Record<string, string>): Promise<Response> {
    return ask("/v1/session", { method: "POST", headers: { DPoP: await this.proof(), ...headers } });
  }
}
