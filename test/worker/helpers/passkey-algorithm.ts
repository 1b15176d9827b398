/** How an authenticator signs, by the algorithms that a passkey may have: its key, in COSE (RFC 9053), and its signatures. */
import { cose } from "@simplewebauthn/server/helpers";
import { base64url } from "jose";

const { COSEALG, COSECRV, COSEKEYS, COSEKTY } = cose;

export interface PasskeyAlgorithm {
  readonly key: Parameters<SubtleCrypto["generateKey"]>[0];
  readonly sign: Parameters<SubtleCrypto["sign"]>[0];
  /** The public key's members. */
  readonly members: (jwk: JsonWebKey) => [number, number | Uint8Array][];
  readonly signature: (raw: Uint8Array) => Uint8Array;
}

const bytes = (text = "") => base64url.decode(text);
const asItIs = (raw: Uint8Array) => raw;

export const ALGORITHMS = {
  ES256: {
    key: { name: "ECDSA", namedCurve: "P-256" },
    sign: { name: "ECDSA", hash: "SHA-256" },
    members: ({ x, y }) => [
      [COSEKEYS.kty, COSEKTY.EC2],
      [COSEKEYS.alg, COSEALG.ES256],
      [COSEKEYS.crv, COSECRV.P256],
      [COSEKEYS.x, bytes(x)],
      [COSEKEYS.y, bytes(y)],
    ],
    signature: derSignature,
  },
  EdDSA: {
    key: { name: "Ed25519" },
    sign: { name: "Ed25519" },
    members: ({ x }) => [
      [COSEKEYS.kty, COSEKTY.OKP],
      [COSEKEYS.alg, COSEALG.EdDSA],
      [COSEKEYS.crv, COSECRV.ED25519],
      [COSEKEYS.x, bytes(x)],
    ],
    signature: asItIs,
  },
  RS256: {
    key: {
      name: "RSASSA-PKCS1-v1_5",
      hash: "SHA-256",
      modulusLength: 2048,
      publicExponent: new Uint8Array([1, 0, 1]),
    },
    sign: { name: "RSASSA-PKCS1-v1_5" },
    members: ({ n, e }) => [
      [COSEKEYS.kty, COSEKTY.RSA],
      [COSEKEYS.alg, COSEALG.RS256],
      [COSEKEYS.n, bytes(n)],
      [COSEKEYS.e, bytes(e)],
    ],
    signature: asItIs,
  },
  /** Which nobody offers. */
  ES384: {
    key: { name: "ECDSA", namedCurve: "P-384" },
    sign: { name: "ECDSA", hash: "SHA-384" },
    members: ({ x, y }) => [
      [COSEKEYS.kty, COSEKTY.EC2],
      [COSEKEYS.alg, COSEALG.ES384],
      [COSEKEYS.crv, COSECRV.P384],
      [COSEKEYS.x, bytes(x)],
      [COSEKEYS.y, bytes(y)],
    ],
    signature: derSignature,
  },
} as const satisfies Record<string, PasskeyAlgorithm>;

/** An ECDSA signature as authenticators give it: a DER sequence of two integers. */
function derSignature(raw: Uint8Array): Uint8Array {
  const integer = (digits: Uint8Array) => {
    const trimmed = digits.slice(digits.findIndex((byte) => byte !== 0));
    const sign = (trimmed[0] ?? 0) > 0x7f ? [0] : [];
    return [0x02, sign.length + trimmed.length, ...sign, ...trimmed];
  };
  const half = raw.length / 2;
  const body = [...integer(raw.slice(0, half)), ...integer(raw.slice(half))];
  return new Uint8Array([0x30, body.length, ...body]);
}
