/** Seals a message so that only its browser can read it, and no push service on the way (RFC 8291, `aes128gcm` of RFC 8188). */
import { relayError } from "@matrx/shared/errors.ts";
import { base64url } from "jose";

/** What a browser gave away of its keys, in base64url. */
export interface Receiver {
  readonly p256dh: string;
  readonly auth: string;
}

/** What is made anew for each message. */
export interface Fresh {
  readonly keys: CryptoKeyPair;
  readonly salt: Uint8Array;
}

/** A push service takes no larger body, in bytes (RFC 8291, section 4). */
const BODY_BYTES = 4096;
const PUBLIC_BYTES = 65;
/** Salt, record size, and the length and bytes of the key. */
const HEAD_BYTES = 16 + 4 + 1 + PUBLIC_BYTES;
const TAG_BYTES = 16;
/** Every message becomes this long, so that its length says nothing of it. */
const PADDED_BYTES = 1024;
/** Marks the last record (RFC 8188, section 2). */
const LAST = 2;

const CURVE = { name: "ECDH", namedCurve: "P-256" } as const;
const encoder = new TextEncoder();

/** Seals `text`; `paddedTo` is the length that a shorter one is given, in bytes. */
export async function seal(
  text: string,
  { p256dh, auth }: Receiver,
  fresh?: Fresh,
  paddedTo: number = PADDED_BYTES,
): Promise<Uint8Array> {
  const { keys, salt } = fresh ?? (await makeFresh());
  const receiver = base64url.decode(p256dh);
  const sender = await publicBytes(keys);
  const shared = await secretOf(keys.privateKey, receiver);
  const info = joined(encoder.encode("WebPush: info\0"), receiver, sender);
  const secret = await derived(shared, base64url.decode(auth), info, 32);
  const [key, nonce] = await Promise.all([
    derived(secret, salt, encoder.encode("Content-Encoding: aes128gcm\0"), 16),
    derived(secret, salt, encoder.encode("Content-Encoding: nonce\0"), 12),
  ]);
  const aes = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["encrypt"]);
  const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv: nonce }, aes, padded(text, paddedTo));
  return joined(headOf(salt, sender), new Uint8Array(sealed));
}

/** Throws MatrxError `INVALID_PARAMETERS` if it is not a point on the curve. */
export async function requireReceiver(p256dh: string): Promise<void> {
  try {
    await imported(base64url.decode(p256dh));
  } catch (cause) {
    throw relayError("INVALID_PARAMETERS", "keys.p256dh: is not a P-256 public key", {
      hint: "Send what the browser's PushSubscription says",
      details: { field: "keys.p256dh" },
      cause,
    });
  }
}

function imported(publicKey: Uint8Array): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", publicKey, CURVE, false, []);
}

async function makeFresh(): Promise<Fresh> {
  const keys = (await crypto.subtle.generateKey(CURVE, true, ["deriveBits"])) as CryptoKeyPair;
  return { keys, salt: crypto.getRandomValues(new Uint8Array(16)) };
}

async function publicBytes({ publicKey }: CryptoKeyPair): Promise<Uint8Array> {
  return new Uint8Array((await crypto.subtle.exportKey("raw", publicKey)) as ArrayBuffer);
}

/** What both sides find from their own private and the other's public key. */
async function secretOf(own: CryptoKey, other: Uint8Array): Promise<Uint8Array> {
  const algorithm = { name: "ECDH", public: await imported(other) };
  return new Uint8Array(await crypto.subtle.deriveBits(algorithm, own, 256));
}

/** HKDF with SHA-256 (RFC 5869). */
async function derived(
  secret: Uint8Array,
  salt: Uint8Array,
  info: Uint8Array,
  bytes: number,
): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  const hkdf = { name: "HKDF", hash: "SHA-256", salt, info };
  return new Uint8Array(await crypto.subtle.deriveBits(hkdf, key, bytes * 8));
}

/** Throws Error if the message is too long to be sent. */
function padded(text: string, paddedTo: number): Uint8Array {
  const content = encoder.encode(text);
  if (HEAD_BYTES + content.length + 1 + TAG_BYTES > BODY_BYTES) throw new Error("a push message is too long");
  const record = new Uint8Array(Math.max(content.length + 1, paddedTo));
  record.set(content);
  record[content.length] = LAST;
  return record;
}

function headOf(salt: Uint8Array, sender: Uint8Array): Uint8Array {
  const sizes = new Uint8Array(5);
  new DataView(sizes.buffer).setUint32(0, BODY_BYTES);
  sizes[4] = sender.length;
  return joined(salt, sizes, sender);
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
