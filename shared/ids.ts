/** Ids: branded strings, so that one kind cannot be passed for another. */

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type DeviceId = Branded<"DeviceId">;
export type AccountId = Branded<"AccountId">;
export type GrantId = Branded<"GrantId">;
export type CallId = Branded<"CallId">;
export type SessionId = Branded<"SessionId">;

/** Crockford's base32 in lower case: 32 characters that are not mistaken for one another. */
const BASE32 = "0123456789abcdefghjkmnpqrstvwxyz";

/** `length` random characters of base32, 5 bits each. */
export function randomBase32(length: number): string {
  return base32Of(crypto.getRandomValues(new Uint8Array(length)));
}

/** One character of base32 for each byte, of its lower 5 bits. */
export function base32Of(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => BASE32[byte & 31]).join("");
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Lower-case hex of bytes. */
export function hexOf(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += HEX[byte];
  return text;
}

/** Whether a text may be an account's id. */
export function isAccountId(text: string): text is AccountId {
  return /^[a-z0-9_-]{1,64}$/.test(text);
}

/** Text of a device id. */
export const DEVICE_ID = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?-[0-9a-hjkmnp-tv-z]{10}$/;

/** A device's id: the slug of its name and 10 random characters (50 bits). */
export function makeDeviceId(name: string): DeviceId {
  const slug = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 32)
    .replace(/^-+|-+$/g, "");
  return `${slug || "device"}-${randomBase32(10)}` as DeviceId;
}

export function isDeviceId(text: string): text is DeviceId {
  return text.length <= 43 && DEVICE_ID.test(text);
}

/** The account of whoever runs the relay. */
export const OWNER_ACCOUNT = "owner" as AccountId;

/** The id of an account that somebody is invited to. */
export function makeAccountId(): AccountId {
  return randomBase32(12) as AccountId;
}

export function makeInviteId(): string {
  return `invite_${randomBase32(16)}`;
}

export function makeGrantId(): GrantId {
  return `grant_${randomBase32(16)}` as GrantId;
}

/** A session's id: 8 random bytes in hex, never reused. */
export function makeSessionId(): SessionId {
  return hexOf(crypto.getRandomValues(new Uint8Array(8))) as SessionId;
}

/** The relay's name for a caller's connection in frames of streams: 8 random bytes in hex. */
export function makeConnectionId(): string {
  return hexOf(crypto.getRandomValues(new Uint8Array(8)));
}

export function isSessionId(text: string): text is SessionId {
  return /^[0-9a-f]{16}$/.test(text);
}

/** UUID version 7 (RFC 9562, section 5.7): ordered by time; all but time and version is a random UUID's. */
function uuidV7(now: number): string {
  const time = now.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${crypto.randomUUID().slice(15)}`;
}

export function makeCallId(now: number = Date.now()): CallId {
  return uuidV7(now) as CallId;
}

/** An event's id; `now` in milliseconds since 1970. */
export function makeEventId(now: number = Date.now()): string {
  return uuidV7(now);
}

export function isCallId(text: string): text is CallId {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(text);
}

/** When a call was made, in milliseconds since 1970. */
export function callTime(call: CallId): number {
  return Number.parseInt(call.slice(0, 8) + call.slice(9, 13), 16);
}
