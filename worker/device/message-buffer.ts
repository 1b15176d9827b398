/** Messages that wait, in order, until their sender is known. Bounded: the sender may be anyone. */
const BYTES_MAX = 8 * 1024 * 1024;

export class Held {
  readonly messages: (string | ArrayBuffer)[] = [];
  readonly #max: number;
  #bytes = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** False: too many wait, or too much; this one is not kept. */
  push(data: string | ArrayBuffer): boolean {
    this.#bytes += typeof data === "string" ? data.length : data.byteLength;
    if (this.messages.length >= this.#max || this.#bytes > BYTES_MAX) return false;
    this.messages.push(data);
    return true;
  }
}
