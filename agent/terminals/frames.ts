/** Frames between an agent and the holder of its terminals: one byte of kind, four of length, and the payload. */

/** `message`: a JSON object. `data`: bytes of a terminal. */
export type Frame =
  | { readonly kind: "message"; readonly message: unknown }
  | { readonly kind: "data"; readonly bytes: Buffer };

const MESSAGE = 1;
const DATA = 2;
const HEADER_BYTES = 5;
/** What a message or a piece may have. A longer frame is an error. */
const MOST_BYTES = 8 * 1024 * 1024;

/** Whether a text fits into a message, with what JSON adds and other fields beside it. */
export function fitsMessage(text: string): boolean {
  return Buffer.byteLength(JSON.stringify(text)) < MOST_BYTES - 64 * 1024;
}

export function messageFrame(message: object): Buffer {
  return frame(MESSAGE, Buffer.from(JSON.stringify(message)));
}

export function dataFrame(bytes: Uint8Array): Buffer {
  return frame(DATA, bytes);
}

function frame(kind: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
  bytes.writeUInt8(kind, 0);
  bytes.writeUInt32BE(payload.length, 1);
  bytes.set(payload, HEADER_BYTES);
  return bytes;
}

/** Puts frames together from the pieces in which they arrive. */
export class FrameReader {
  #parts: Buffer[] = [];
  #bytes = 0;

  /** The frames that this piece completes. Throws if it is not a frame of ours. */
  *read(piece: Buffer): Generator<Frame> {
    this.#parts.push(piece);
    this.#bytes += piece.length;
    for (;;) {
      if (this.#bytes < HEADER_BYTES) return;
      const header = this.#peek(HEADER_BYTES);
      const kind = header.readUInt8(0);
      const length = header.readUInt32BE(1);
      if ((kind !== MESSAGE && kind !== DATA) || length > MOST_BYTES) throw new Error("not a frame");
      if (this.#bytes < HEADER_BYTES + length) return;
      const bytes = this.#take(HEADER_BYTES + length).subarray(HEADER_BYTES);
      yield kind === DATA
        ? { kind: "data", bytes }
        : { kind: "message", message: JSON.parse(bytes.toString("utf8")) };
    }
  }

  #peek(count: number): Buffer {
    const [first = Buffer.alloc(0)] = this.#parts;
    if (first.length >= count) return first;
    return this.#joined();
  }

  #take(count: number): Buffer {
    const all = this.#peek(count).length >= count ? (this.#parts[0] ?? Buffer.alloc(0)) : this.#joined();
    const rest = all.subarray(count);
    this.#parts.shift();
    if (rest.length > 0) this.#parts.unshift(rest);
    this.#bytes -= count;
    return all.subarray(0, count);
  }

  #joined(): Buffer {
    const all = Buffer.concat(this.#parts);
    this.#parts = [all];
    return all;
  }
}
