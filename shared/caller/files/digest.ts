/** Digests in headers (RFC 9530). */
import { relayError } from "../../errors.ts";

/** The SHA-256 that a request announces, in hex; other algorithms are not looked at. Throws MatrxError. */
export function digestOf({ headers }: Request): string | undefined {
  const said = ["Repr-Digest", "Content-Digest"].flatMap((name) => sha256In(name, headers.get(name) ?? ""));
  const [first, second = first] = said;
  if (first !== second) throw wrongDigest("Content-Digest", "is another one than Repr-Digest");
  return first;
}

function sha256In(name: string, value: string): string[] {
  const item = value.split(",").find((one) => one.trim().toLowerCase().startsWith("sha-256="));
  if (item === undefined) return [];
  const [, base64] = /^sha-256=:([A-Za-z0-9+/]{43}=):$/i.exec(item.trim()) ?? [];
  if (base64 === undefined) throw wrongDigest(name, "sha-256 must be 32 bytes in Base64 between colons");
  return [hexOf(base64)];
}

export function hexOf(base64: string): string {
  return Array.from(atob(base64), (one) => one.charCodeAt(0).toString(16).padStart(2, "0")).join("");
}

export function base64Of(hex: string): string {
  return btoa(String.fromCharCode(...(hex.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16))));
}

function wrongDigest(field: string, message: string) {
  return relayError("INVALID_PARAMETERS", `${field}: ${message}`, { details: { field } });
}
