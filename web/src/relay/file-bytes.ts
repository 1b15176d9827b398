/** The bytes of a machine's file, a piece at a time: nothing is read that nobody looks at. */
import { openBytes } from "./api.ts";
import { ApiError } from "./api-error.ts";

export interface Piece {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Of the whole file, in bytes. */
  readonly size: number;
  /** Which version of it; undefined: the machine can't tell. */
  readonly etag: string | undefined;
}

export interface PlacedFile {
  readonly device: string;
  readonly path: string;
}

export interface Part {
  /** The first byte. */
  readonly from: number;
  readonly length: number;
  /** Throws ApiError 412 if it is no longer this version. */
  readonly etag?: string | undefined;
}

const LINE = "GET /v1/devices/{device}/files/{path}";

/** At most so many bytes from there on. Throws ApiError; the signal's reason when that ends it. */
export async function readPiece(
  { device, path }: PlacedFile,
  { from, length, etag }: Part,
  signal: AbortSignal,
): Promise<Piece> {
  const headers = {
    Range: `bytes=${from}-${from + length - 1}`,
    ...(etag !== undefined && { "If-Match": `"${etag}"` }),
  };
  try {
    const response = await openBytes(LINE, { path: { device, path } }, { signal, headers });
    if (response.headers.get("Accept-Ranges") === "none") {
      await response.body?.cancel();
      throw folderError();
    }
    const bytes = await bytesOf(response, length, signal);
    const total = /\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "")?.[1];
    return { bytes, size: total === undefined ? bytes.length : Number(total), etag: etagOf(response) };
  } catch (error) {
    // Nothing is there after the end: of an empty file, that is all of it.
    if (error instanceof ApiError && error.status === 416)
      return { bytes: new Uint8Array(), size: from, etag: undefined };
    if (error instanceof ApiError && error.code === "CONFLICT" && etag === undefined) throw busyError();
    throw error;
  }
}

/** The whole file, unless it is larger than that. Throws ApiError; the signal's reason when that ends it. */
export async function readWhole(file: PlacedFile, most: number, signal: AbortSignal): Promise<Piece> {
  const piece = await readPiece(file, { from: 0, length: most }, signal);
  if (piece.size > piece.bytes.length) throw tooLargeError();
  return piece;
}

/** The file, or a folder as a zip, as it arrives. Throws ApiError. */
export function openWhole({ device, path }: PlacedFile, signal: AbortSignal): Promise<Response> {
  return openBytes(LINE, { path: { device, path } }, { signal });
}

/** Of a machine that sends more than it was asked for, the rest is not read. */
async function bytesOf(
  response: Response,
  most: number,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = response.body?.getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  try {
    while (reader && length < most) {
      const { value, done } = await reader.read();
      if (done) break;
      parts.push(value);
      length += value.length;
    }
  } catch {
    signal.throwIfAborted();
    throw brokenOffError();
  } finally {
    void reader?.cancel().catch(() => undefined);
  }
  return new Uint8Array(await new Blob(parts).slice(0, most).arrayBuffer());
}

function etagOf({ headers }: Response): string | undefined {
  return /^"([^"]*)"$/.exec(headers.get("ETag") ?? "")?.[1];
}

/** A machine also breaks off what it finds changed while it sends it. */
function brokenOffError(): ApiError {
  return new ApiError(0, {
    detail: "The rest did not arrive: the file changed while it was read, or the connection broke.",
    hint: "Try again. To follow a file that keeps being written to, use a terminal.",
  });
}

/** Between looking at it and sending it, it was changed. */
function busyError(): ApiError {
  return new ApiError(409, {
    code: "CONFLICT",
    detail: "This file is written to faster than it can be read.",
    hint: "Try again. To follow a file that keeps being written to, use a terminal.",
  });
}

/** What would come is its zip. */
function folderError(): ApiError {
  return new ApiError(409, {
    detail: "A folder is there now.",
    hint: "Close the file, and open the folder in the list.",
  });
}

export function tooLargeError(): ApiError {
  return new ApiError(413, {
    detail: "This file is too large for that.",
    hint: "Download it instead.",
  });
}
