/** Audiences and lifetimes of the JWTs. A token for one audience is never valid for another. */

export const AUDIENCE = {
  /** A caller's bearer token: API token, command line, or a page's access token. */
  caller: "matrx:caller",
  /** The cookie of a signed-in browser, worth nothing without the session's key. */
  web: "matrx:web",
  /** What a proof of a session's key must contain, once. */
  nonce: "matrx:nonce",
  /** A sign-in at an issuer that is under way. */
  issuer: "matrx:issuer",
  /** A bare device's token. */
  device: "matrx:device",
  /** A one-use ticket for an upgrade. */
  ticket: "matrx:ticket",
  /** The secret of a pairing. */
  pairing: "matrx:pairing",
  /** The state of making or using a passkey; its id is the challenge. */
  passkey: "matrx:passkey",
  /** The end of an account's record: a statement that opens nothing. */
  auditHead: "matrx:audit-head",
  /** A sign-in link's code; like the other links' codes HS256 over `CLAIM_SECRET`, where all other tokens are EdDSA. */
  claim: "matrx:claim",
  /** The code of a link that makes an account. */
  invite: "matrx:invite",
  /** The code of a link that gives devices to another account. */
  share: "matrx:share",
} as const;

const day = 24 * 60 * 60;

/** Lifetimes in seconds. */
export const LIFETIME = {
  web: 30 * day,
  /** A page's access token. */
  access: 5 * 60,
  /** The nonce of a proof. */
  nonce: 5 * 60,
  /** The challenge to a passkey. */
  passkey: 5 * 60,
  /** The time to sign in at an issuer. */
  issuer: 10 * 60,
  cli: 90 * day,
  device: 90 * day,
  /** A sign-in link that the relay's machine printed. */
  claim: day,
  /** A sign-in link that a signed-in person made for another device. */
  signInLink: 5 * 60,
  /** A link that invites somebody, or shares devices. */
  invite: 7 * day,
} as const;

/** Header of the 101 response that carries the nonce which a device signs. */
export const NONCE_HEADER = "Matrx-Nonce";

/** Request and response header that names a caller's session; the value `new` asks for one. */
export const SESSION_HEADER = "Matrx-Session";

/** Request header that names the device where the path does not. */
export const DEVICE_HEADER = "X-Matrx-Device";

/** Header that names the call: in a request, chosen by the caller; in every answer of a call. */
export const CALL_HEADER = "Matrx-Call";

/**
 * The newest version of the device link. Since 2, agents enforce closed paths, and prepare calls for approval; since 3,
 * they have streams.
 */
export const PROTOCOL = 3;

/** Subprotocols of the caller link. */
export const SUBPROTOCOL = { v1: "matrx.v1", binary: "matrx.v1.bin", bearer: "bearer." } as const;

/** What a device signs: this connection's nonce, for the host that it dialled. Needs no clock. */
export interface DeviceAssertion {
  iss: string;
  aud: string;
  nonce: string;
}

/** The same before there is a nonce: it proves nothing, but reserves the connection's place until it registers. */
export type EarlyAssertion = Omit<DeviceAssertion, "nonce">;
