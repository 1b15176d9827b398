/** Appends to an upload what arrives on a stream. Whatever ends it, what was stored stays and can be continued. */
import { createHash, type Hash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { Incoming } from "@matrx/shared/streams/endpoint.ts";
import type { StreamMessage } from "@matrx/shared/streams/frame.ts";
import type { ServeStream } from "../core/byte-stream.ts";
import type { FileAccess } from "../fs/access.ts";
import { explained, hasCode } from "../fs/errors.ts";
import { roomAt } from "../platform/disk-room.ts";
import { orAborted } from "../platform/or-aborted.ts";
import {
  busyUploadError,
  checksumError,
  endedBy,
  noSpaceError,
  tooLongError,
  wrongOffsetError,
} from "./errors.ts";
import type { Upload } from "./upload.ts";
import type { UploadRecord } from "./upload-record.ts";
import { openArrived, openUploadTarget } from "./upload-target.ts";
import type { Uploads } from "./uploads.ts";

/** How many bytes have arrived. Throws MatrxError. */
export async function offsetOf(access: FileAccess, upload: Upload): Promise<number> {
  await using file = await openUploadTarget(access, upload.record);
  await using part = await openArrived(file, upload);
  return (await part.stat()).size;
}

/** Throws MatrxError `CONFLICT` with the right offset, or if another call is appending. */
export async function checkOffset(access: FileAccess, upload: Upload, offset: number): Promise<void> {
  const arrived = await offsetOf(access, upload);
  if (upload.isBusy) throw busyUploadError(upload.id, arrived);
  if (arrived !== offset) throw wrongOffsetError(upload.id, arrived);
}

/** What a stream is to bring. */
export interface Piece {
  /** Where it begins. */
  readonly offset: number;
  /** In hex. */
  readonly checksum?: { readonly algorithm: "sha1" | "sha256"; readonly digest: string } | undefined;
}

/** The part is opened again when the stream comes: until then, anything may have happened to it. */
export function appendFrom(uploads: Uploads, access: FileAccess, upload: Upload, piece: Piece): ServeStream {
  return async (stream) => {
    using claim = upload.claim();
    try {
      return await append(access, upload, piece, { incoming: stream.incoming(), signal: claim.signal });
    } catch (error) {
      if (upload.record.resumable) throw error;
      await uploads.discardQuietly(upload);
      throw endedBy(error);
    } finally {
      uploads.keepLonger(upload);
    }
  };
}

interface Arriving {
  readonly incoming: AsyncIterable<Incoming>;
  readonly signal: AbortSignal;
}

async function append(
  access: FileAccess,
  upload: Upload,
  { offset, checksum }: Piece,
  arriving: Arriving,
): Promise<StreamMessage> {
  const { id, record } = upload;
  await using file = await openUploadTarget(access, record);
  await using part = await openArrived(file, upload);
  const stat = await part.stat({ bigint: true });
  if (stat.size !== BigInt(offset)) throw wrongOffsetError(id, Number(stat.size));
  const end = new End(part, { offset, hash: upload.digestAt(stat) });
  const check = checksum && createHash(checksum.algorithm);
  try {
    await explained(record.shown, "write", () => receive(arriving, end, record, check));
    if (checksum && check?.digest("hex") !== checksum.digest.toLowerCase()) throw checksumError(id, offset);
    return { offset: end.offset };
  } catch (error) {
    // Nobody can say whether bytes without a checksum are right.
    if (checksum) await end.backTo({ offset, hash: upload.digestAt(stat) });
    if (!isFull(error)) throw error;
    throw noSpaceError(record.shown, end.offset, await missingAt(file.parent.self, end, upload));
  } finally {
    upload.noteDigest(end.hash, await part.stat({ bigint: true }));
  }
}

async function receive(
  { incoming, signal }: Arriving,
  end: End,
  { id, size }: UploadRecord,
  check: Hash | undefined,
): Promise<void> {
  const pieces = incoming[Symbol.asyncIterator]();
  for (;;) {
    const { done, value: piece } = await orAborted(pieces.next(), signal);
    if (done) return;
    if (piece.kind !== "data") continue;
    if (size !== undefined && end.offset + piece.bytes.length > size) throw tooLongError(id, size);
    await end.append(piece.bytes);
    check?.update(piece.bytes);
  }
}

/** The growing end of the part. */
class End {
  readonly #part: FileHandle;
  offset: number;
  /** Of everything up to the offset; undefined if it is not known. */
  hash: Hash | undefined;

  constructor(part: FileHandle, { offset, hash }: Pick<End, "offset" | "hash">) {
    this.#part = part;
    this.offset = offset;
    this.hash = hash;
  }

  /** Takes back what came after. Throws the system's error. */
  async backTo({ offset, hash }: Pick<End, "offset" | "hash">): Promise<void> {
    this.hash = undefined;
    await this.#part.truncate(offset);
    this.offset = offset;
    this.hash = hash;
  }

  /** All of it is stored, or nothing. Throws the system's error. */
  async append(bytes: Uint8Array): Promise<void> {
    try {
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await this.#part.write(bytes, done, bytes.length - done, this.offset + done);
        done += bytesWritten;
      }
    } catch (error) {
      await this.#part.truncate(this.offset).catch(() => {
        this.hash = undefined;
      });
      throw error;
    }
    this.hash?.update(bytes);
    this.offset += bytes.length;
  }
}

/** How many bytes do not fit; undefined if that is not known. */
async function missingAt(folder: string, { offset }: End, { record }: Upload): Promise<number | undefined> {
  const room = await roomAt(folder).catch(() => undefined);
  if (!room || record.size === undefined) return undefined;
  return Math.max(1, record.size - offset - room.freeBytes);
}

function isFull(error: unknown): boolean {
  return error instanceof Error && hasCode(error.cause, "ENOSPC", "EDQUOT");
}
