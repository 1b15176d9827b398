/** Copies bytes of a device into the store: counted, digested, and never whole in memory. */
import { MatrxError, relayError } from "@matrx/shared/errors.ts";
import { hexOf } from "@matrx/shared/ids.ts";
import type { CloudStore } from "./store.ts";

/** How much is read at once, in bytes. */
const PIECE = 256 * 1024;

export interface Arriving {
  readonly bytes: ReadableStream<Uint8Array>;
  /** Undefined for a folder's zip. */
  readonly length: number | undefined;
  /** Called for each piece before it is stored; a rejection ends the copy. */
  readonly onArrived: (arrived: number) => Promise<void>;
}

/** Resolves with size and SHA-256 (hex) of what is stored. If the bytes break off, nothing stays. Throws MatrxError. */
export async function copyIn(
  store: CloudStore,
  key: string,
  { bytes, length, onArrived }: Arriving,
): Promise<{ size: number; sha256: string }> {
  const digest = new crypto.DigestStream("SHA-256");
  const hashed = digest.getWriter();
  const pipe = length === undefined ? new IdentityTransformStream() : new FixedLengthStream(length);
  const stored = store.put(key, pipe.readable, length);
  // A store that fails leaves the pipe's writer waiting.
  const failed = stored.then(
    () => new Promise<never>(() => undefined),
    (cause: unknown) => Promise.reject(notTaken(cause)),
  );
  failed.catch(() => undefined);
  const writer = pipe.writable.getWriter();
  const reader = bytes.getReader({ mode: "byob" });
  let buffer: ArrayBufferLike = new ArrayBuffer(PIECE);
  let size = 0;
  try {
    for (;;) {
      const { value, done }: ReadableStreamReadResult<Uint8Array> = await reader.readAtLeast(
        PIECE,
        new Uint8Array(buffer),
      );
      if (done || !value) break;
      size += value.length;
      await onArrived(size);
      await Promise.race([Promise.all([hashed.write(value), writer.write(value)]), failed]);
      buffer = value.buffer;
    }
    if (size !== (length ?? size)) throw brokeOff(size);
    await Promise.race([Promise.all([hashed.close(), writer.close()]), failed]);
    await Promise.race([stored, failed]);
  } catch (error) {
    void reader.cancel(error).catch(() => undefined);
    void hashed.abort(error).catch(() => undefined);
    void writer.abort(error).catch(() => undefined);
    digest.digest.catch(() => undefined);
    await stored.catch(() => undefined);
    throw error instanceof MatrxError ? error : brokeOff(size, error);
  }
  return { size, sha256: hexOf(new Uint8Array(await digest.digest)) };
}

function brokeOff(arrived: number, cause?: unknown): MatrxError {
  return relayError("UNAVAILABLE", `The file broke off after ${arrived} bytes`, {
    hint: "It changed while it was sent, or the device went offline: send it again",
    cause,
  });
}

function notTaken(cause: unknown): MatrxError {
  return relayError("UNAVAILABLE", "The cloud store did not take the file", {
    hint: "Send it again later; the relay's log says more",
    cause,
  });
}
