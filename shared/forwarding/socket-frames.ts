/** Messages of a forwarded WebSocket as bytes: a kind, the length in four bytes, the payload. Pings end at each side. */
import { closeReason, isSendable } from "../close-codes.ts";
import type { ExactSource } from "./pieces.ts";

/** The longest message of a forwarded WebSocket, in bytes. */
export const SOCKET_MESSAGE_BYTES = 4 * 1024 * 1024;

const KINDS = { text: 1, binary: 2, close: 8 } as const;
type Kind = keyof typeof KINDS;
const KIND_OF: ReadonlyMap<number, Kind> = new Map(
  Object.entries(KINDS).map(([kind, byte]) => [byte, kind as Kind]),
);
const HEADER_BYTES = 5;
/** The same with what is before it. */
export const SOCKET_FRAME_BYTES = HEADER_BYTES + SOCKET_MESSAGE_BYTES;

export type SocketFrame =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "binary"; readonly bytes: Uint8Array }
  | { readonly kind: "close"; readonly code: number; readonly reason: string };

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function encodeSocketFrame(frame: SocketFrame): Uint8Array<ArrayBuffer> {
  const payload = payloadOf(frame);
  const bytes = new Uint8Array(HEADER_BYTES + payload.length);
  bytes[0] = KINDS[frame.kind];
  new DataView(bytes.buffer).setUint32(1, payload.length);
  bytes.set(payload, HEADER_BYTES);
  return bytes;
}

function payloadOf(frame: SocketFrame): Uint8Array {
  if (frame.kind === "text") return encoder.encode(frame.text);
  if (frame.kind === "binary") return frame.bytes;
  const reason = encoder.encode(closeReason(frame.reason));
  const payload = new Uint8Array(2 + reason.length);
  new DataView(payload.buffer).setUint16(0, sendable(frame.code));
  payload.set(reason, 2);
  return payload;
}

/** Codes such as 1005, that it was closed without one, and 1006, that it broke off, are never sent. Who reconnects after 1006 must not take it for 1000. */
function sendable(code: number): number {
  if (isSendable(code)) return code;
  return code === 1005 ? 1000 : 1011;
}

/** The next message; undefined at the end. Throws for bytes that are no message, or a message that is too long. */
export async function readSocketFrame(source: ExactSource): Promise<SocketFrame | undefined> {
  const header = await source.exactly(HEADER_BYTES);
  if (!header) return undefined;
  const kind = KIND_OF.get(header[0] ?? 0);
  const length = new DataView(header.buffer, header.byteOffset).getUint32(1);
  if (!kind || length > SOCKET_MESSAGE_BYTES) throw new Error("These bytes are no message of a WebSocket");
  const payload = length === 0 ? new Uint8Array() : await source.exactly(length);
  if (!payload) throw new Error("The bytes end too early");
  if (kind === "text") return { kind, text: decoder.decode(payload) };
  if (kind === "binary") return { kind, bytes: payload };
  if (payload.length < 2) throw new Error("A close frame has no code");
  const code = new DataView(payload.buffer, payload.byteOffset).getUint16(0);
  return { kind, code, reason: decoder.decode(payload.subarray(2)) };
}
