/** Live output of one call: the first bytes at once, then batched for a few milliseconds. Never queued. */

export interface OutputPiece {
  channel: "stdout" | "stderr";
  /** Byte offset into the job's log; a jump is a gap. */
  offset: number;
  data: string;
}

/** Output is batched for at most this long, in milliseconds. */
const GATHER_MS = 8;
/** And at most this much, in UTF-16 units. A job's log comes in pieces that fit: however it is escaped, a frame stays under 64 KiB. */
const PIECE_CHARS = 8 * 1024;

export class LiveOutput {
  readonly #send: (piece: OutputPiece) => void;
  #gathered: OutputPiece | undefined;
  #nextOffset = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(send: (piece: OutputPiece) => void) {
    this.#send = send;
  }

  /** Takes what a tool wrote. */
  write(channel: OutputPiece["channel"], offset: number, data: string): void {
    if (this.#closed || data === "") return;
    let from = offset;
    for (const part of partsOf(data)) {
      this.#gather(channel, from, part);
      from += Buffer.byteLength(part);
    }
  }

  /** Sends what is left, and nothing after that. */
  close(): void {
    this.#flush();
    this.#closed = true;
  }

  #gather(channel: OutputPiece["channel"], offset: number, data: string): void {
    const held = this.#gathered;
    const fits =
      held?.channel === channel &&
      this.#nextOffset === offset &&
      held.data.length + data.length <= PIECE_CHARS;
    if (held && fits) held.data += data;
    else {
      if (held) this.#release();
      this.#gathered = { channel, offset, data };
    }
    this.#nextOffset = offset + Buffer.byteLength(data);
    // The timer starts with the last piece sent, so after a pause the first bytes are sent at once.
    if (this.#timer === undefined) this.#flush();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#gathered) return;
    this.#release();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#flush();
    }, GATHER_MS);
  }

  #release(): void {
    const piece = this.#gathered;
    this.#gathered = undefined;
    if (piece) this.#send(piece);
  }
}

/** Cuts a text into pieces, never inside a surrogate pair. */
function* partsOf(data: string): Generator<string> {
  for (let start = 0; start < data.length; ) {
    let end = Math.min(start + PIECE_CHARS, data.length);
    const last = data.charCodeAt(end - 1);
    if (end < data.length && last >= 0xd800 && last <= 0xdbff) end--;
    yield data.slice(start, end);
    start = end;
  }
}
