/** What a command wrote to its terminal, between the marks of its beginning and its end: its first and its last bytes. */

/** How much is kept, in bytes. */
const HEAD_BYTES = 32 * 1024;
const TAIL_BYTES = 128 * 1024;

export interface Kept {
  readonly head: Buffer;
  /** What was left out after the head. */
  readonly left: number;
  readonly tail: Buffer;
}

export class CommandOutput {
  /** The number of the next byte of the terminal's output. */
  #next: number;
  #from = Number.POSITIVE_INFINITY;
  #to = Number.POSITIVE_INFINITY;
  #head = Buffer.alloc(0);
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #left = 0;

  constructor(next: number) {
    this.#next = next;
  }

  /** The number of the command's first byte. */
  begin(from: number): void {
    this.#from = from;
  }

  /** The number of the byte after its last one; some that follow may have been taken. */
  end(to: number): void {
    this.#to = to;
    let over = Math.max(0, this.#next - to);
    while (over > 0) {
      const last = this.#tail.pop();
      if (!last) {
        this.#head = this.#head.subarray(0, Math.max(0, this.#head.length - over));
        return;
      }
      const kept = last.subarray(0, Math.max(0, last.length - over));
      over -= last.length - kept.length;
      this.#tailBytes -= last.length - kept.length;
      if (kept.length > 0) this.#tail.push(kept);
    }
  }

  /** Whether all of it has come. */
  get isWhole(): boolean {
    return this.#next >= this.#to;
  }

  /** Takes the next bytes of the terminal's output, and returns those of the command. */
  take(bytes: Buffer): Buffer {
    const at = this.#next;
    this.#next += bytes.length;
    const own = bytes.subarray(
      Math.min(bytes.length, Math.max(0, this.#from - at)),
      Math.max(0, Math.min(bytes.length, this.#to - at)),
    );
    const room = HEAD_BYTES - this.#head.length;
    if (room > 0) this.#head = Buffer.concat([this.#head, own.subarray(0, room)]);
    this.#append(own.subarray(Math.max(0, room)));
    return own;
  }

  /** Bytes that the terminal no longer had. */
  skip(to: number): void {
    const lost = Math.max(0, Math.min(to, this.#to) - Math.max(this.#next, this.#from));
    this.#left += lost + (lost > 0 ? this.#tailBytes : 0);
    if (lost > 0) {
      this.#tail = [];
      this.#tailBytes = 0;
    }
    this.#next = to;
  }

  kept(): Kept {
    return { head: this.#head, left: this.#left, tail: Buffer.concat(this.#tail) };
  }

  #append(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#tail.push(bytes);
    this.#tailBytes += bytes.length;
    for (
      let [first] = this.#tail;
      first && this.#tailBytes - first.length >= TAIL_BYTES;
      [first] = this.#tail
    ) {
      this.#tail.shift();
      this.#tailBytes -= first.length;
      this.#left += first.length;
    }
  }
}
