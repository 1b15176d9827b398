/** The last bytes of a terminal's output, numbered from its beginning. */
export class Ring {
  readonly #bytes: Buffer;
  #end = 0;

  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafeSlow(size);
  }

  /** The oldest byte that is kept. */
  get begin(): number {
    return Math.max(0, this.#end - this.#bytes.length);
  }

  /** The byte after the newest one. */
  get end(): number {
    return this.#end;
  }

  append(piece: Uint8Array): void {
    const size = this.#bytes.length;
    const kept = piece.length > size ? piece.subarray(piece.length - size) : piece;
    this.#end += piece.length - kept.length;
    const at = this.#end % size;
    const first = kept.subarray(0, size - at);
    this.#bytes.set(first, at);
    this.#bytes.set(kept.subarray(first.length), 0);
    this.#end += kept.length;
  }

  /** A copy of at most so many bytes from a number on, which must be kept; fewer at the place where the ring closes. */
  read(from: number, most: number): Buffer {
    const size = this.#bytes.length;
    const at = from % size;
    const length = Math.min(most, this.#end - from, size - at);
    return Buffer.from(this.#bytes.subarray(at, at + length));
  }
}
