/** Reads bytes that come in pieces of any size: so many of them exactly, or all that is left. */

/** Where bytes are read from in exact numbers. */
export interface ExactSource {
  /** Exactly so many bytes; undefined if the source has ended before the first. Rejects if it ends within them. */
  exactly(length: number): Promise<Uint8Array | undefined>;
}

export class Pieces implements ExactSource {
  readonly #source: AsyncIterator<Uint8Array>;
  #left: Uint8Array = new Uint8Array();

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async exactly(length: number): Promise<Uint8Array | undefined> {
    const taken = new Uint8Array(length);
    let at = 0;
    while (at < length) {
      const piece = await this.next();
      if (!piece) {
        if (at === 0) return undefined;
        throw new Error("The bytes end too early");
      }
      const used = piece.subarray(0, length - at);
      taken.set(used, at);
      at += used.length;
      this.#left = piece.subarray(used.length);
    }
    return taken;
  }

  /** The next piece, which is not empty; undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    if (this.#left.length > 0) {
      const piece = this.#left;
      this.#left = new Uint8Array();
      return piece;
    }
    for (;;) {
      const { value, done } = await this.#source.next();
      if (done) return undefined;
      if (value.length > 0) return value;
    }
  }
}
