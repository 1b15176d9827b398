/**
 * Binary frames of streams, the same on both links.
 *
 *     byte 0       kind: 16 data, 17 message, 18 credit, 19 end, 20 reset, 21 window; the highest bit: on the bulk connection
 *     bytes 1..8   the connection: the relay's name for the caller's connection; a caller's own are ignored
 *     bytes 9..12  number of the stream on that connection, chosen by the caller, big endian
 *     payload      data: bytes. message, end, reset: JSON, UTF-8. credit, window: bytes, big endian, in 4 bytes
 */
import { type ErrorShape, HOPS, isErrorCode, type MatrxError, relayError } from "../errors.ts";
import { hexOf } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import { strictTextOf } from "../utf8.ts";

const KINDS = { data: 16, message: 17, credit: 18, end: 19, reset: 20, window: 21 } as const;
export type StreamKind = keyof typeof KINDS;

const KIND_OF: ReadonlyMap<number, StreamKind> = new Map(
  Object.entries(KINDS).map(([kind, byte]) => [byte, kind as StreamKind]),
);

const BULK = 0x80;
const CONNECTION_AT = 1;
const STREAM_AT = 9;

/** Bytes before the payload. */
export const STREAM_HEADER_BYTES = 13;

/** What each frame of data or a message costs besides its payload, in bytes of credit: small frames take memory too. */
const FRAME_COST = 64;

/** The relay's name for a caller's connection: 8 bytes in hex. */
export type ConnectionId = string;

/** Which stream a frame belongs to. */
export interface StreamAddress {
  readonly connection: ConnectionId;
  /** 1 to 2^31 - 1. */
  readonly stream: number;
}

export interface StreamFrame extends StreamAddress {
  readonly kind: StreamKind;
  /** Whether the stream's frames go over the agent's bulk connection. */
  readonly bulk: boolean;
  /** A view. */
  readonly payload: Uint8Array;
}

/** A JSON object in a frame. */
export type StreamMessage = Readonly<Record<string, unknown>>;

/** The largest number of a stream. */
export const STREAM_MAX = 2 ** 31 - 1;

/** Whether frames of this kind carry data or a message. */
export function carriesData(kind: StreamKind): boolean {
  return kind === "data" || kind === "message";
}

/** What a frame costs its sender, in bytes of credit; 0 for frames that are always allowed. */
export function costOf(kind: StreamKind, payloadBytes: number): number {
  return carriesData(kind) ? payloadBytes + FRAME_COST : 0;
}

/** The largest payload that this much credit pays for. */
export function payloadFor(credit: number): number {
  return credit - FRAME_COST;
}

/** Whether a binary frame belongs to a stream, not to a call. */
export function isStreamFrame(frame: Uint8Array): boolean {
  return KIND_OF.has((frame[0] ?? 0) & ~BULK);
}

export function encodeStreamFrame(
  { connection, stream, bulk }: StreamAddress & { bulk: boolean },
  kind: StreamKind,
  payload: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(STREAM_HEADER_BYTES + payload.length);
  frame[0] = KINDS[kind] | (bulk ? BULK : 0);
  writeConnection(frame, connection);
  new DataView(frame.buffer).setUint32(STREAM_AT, stream);
  frame.set(payload, STREAM_HEADER_BYTES);
  return frame;
}

/** Writes where a frame comes from into it: only the relay's own word counts. */
export function writeConnection(frame: Uint8Array, connection: ConnectionId): void {
  for (let at = 0; at < 8; at++)
    frame[CONNECTION_AT + at] = Number.parseInt(connection.slice(2 * at, 2 * at + 2), 16);
}

export function creditPayload(bytes: number): Uint8Array {
  const payload = new Uint8Array(4);
  new DataView(payload.buffer).setUint32(0, bytes);
  return payload;
}

const encoder = new TextEncoder();

/** Throws MatrxError `PAYLOAD_TOO_LARGE`. */
export function messagePayload(message: StreamMessage): Uint8Array {
  const payload = encoder.encode(JSON.stringify(message));
  if (payload.length > LIMITS.streamMessageBytes) throw tooLarge("message", LIMITS.streamMessageBytes);
  return payload;
}

/** The payload of a reset; what is too long for it is cut. */
export function errorPayload({ code, message, hint, hop, details }: ErrorShape): Uint8Array {
  const short = { code, message: message.slice(0, 500), ...(hint && { hint: hint.slice(0, 500) }), hop };
  const whole = encoder.encode(JSON.stringify(details ? { ...short, details } : short));
  return whole.length <= LIMITS.streamMessageBytes ? whole : encoder.encode(JSON.stringify(short));
}

/** Reads a frame's header and checks the payload's size. Throws MatrxError `INVALID_MESSAGE` or `PAYLOAD_TOO_LARGE`. */
export function decodeStreamFrame(bytes: Uint8Array): StreamFrame {
  const first = bytes[0] ?? 0;
  const kind = KIND_OF.get(first & ~BULK);
  if (!kind) throw invalid(`has the unknown kind ${first}`);
  if (bytes.length < STREAM_HEADER_BYTES) throw invalid("is cut short");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const stream = view.getUint32(STREAM_AT);
  if (stream < 1 || stream > STREAM_MAX) throw invalid("names no stream");
  const payload = bytes.subarray(STREAM_HEADER_BYTES);
  checkPayload(kind, payload);
  const connection = hexOf(bytes.subarray(CONNECTION_AT, STREAM_AT));
  return { kind, bulk: (first & BULK) !== 0, connection, stream, payload };
}

function checkPayload(kind: StreamKind, { length }: Uint8Array): void {
  const limit = kind === "data" ? LIMITS.streamDataBytes : LIMITS.streamMessageBytes;
  if (length > limit) throw tooLarge(kind, limit);
  if ((kind === "credit" || kind === "window") && length !== 4)
    throw invalid("gives credit not in four bytes");
  if (length === 0 && kind !== "end") throw invalid("is empty");
}

/** The bytes of a credit or a window frame. Throws MatrxError `INVALID_MESSAGE`. */
export function creditOf({ payload }: StreamFrame): number {
  const bytes = new DataView(payload.buffer, payload.byteOffset, payload.length).getUint32(0);
  const { streamCreditMinBytes, streamWindowBytes } = LIMITS;
  if (bytes < streamCreditMinBytes || bytes > streamWindowBytes)
    throw invalid(`gives ${bytes} bytes of credit`);
  return bytes;
}

/** The JSON object of a message or an end; an end may have none. Throws MatrxError `INVALID_MESSAGE`. */
export function messageOf({ payload }: StreamFrame): StreamMessage {
  if (payload.length === 0) return {};
  try {
    const value: unknown = JSON.parse(strictTextOf(payload));
    if (isObject(value)) return value;
  } catch {}
  throw invalid("has a payload that is not a JSON object");
}

/** Why a stream was reset, as the other end says. Throws MatrxError `INVALID_MESSAGE`. */
export function resetErrorOf(frame: StreamFrame): ErrorShape {
  const { code, message, hint, hop: said, details } = messageOf(frame);
  const hop = HOPS.find((known) => known === said);
  if (
    !isErrorCode(code) ||
    !hop ||
    typeof message !== "string" ||
    !(hint === undefined || typeof hint === "string") ||
    !(details === undefined || isObject(details))
  )
    throw invalid("resets a stream without an error");
  return { code, message, hop, ...(hint !== undefined && { hint }), ...(details && { details }) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(what: string): MatrxError {
  return relayError("INVALID_MESSAGE", `The stream frame ${what}`, {
    hint: "Stream frames are described in docs/protocol.md",
  });
}

function tooLarge(what: string, limit: number): MatrxError {
  return relayError("PAYLOAD_TOO_LARGE", `The stream frame carries more than ${limit} bytes (${what})`, {
    hint: "Send smaller pieces",
    details: { limit_bytes: limit },
  });
}
