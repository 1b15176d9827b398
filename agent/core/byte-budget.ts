/** A semaphore that counts bytes: takers wait in order until enough are free. */
export class ByteBudget {
  readonly #most: number;
  #taken = 0;
  readonly #waiting = new Set<{ readonly bytes: number; readonly go: () => void }>();

  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Resolves once the bytes are free, with a function that releases them. A request larger than the whole budget waits
   * until nothing else is taken. Rejects with the signal's reason.
   */
  async take(bytes: number, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#waiting.size > 0 || !this.#fits(bytes)) await this.#turn(bytes, signal);
    else this.#taken += bytes;
    let isTaken = true;
    return () => {
      if (isTaken) this.#giveBack(bytes);
      isTaken = false;
    };
  }

  #turn(bytes: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const turn = {
        bytes,
        go: () => {
          signal?.removeEventListener("abort", leave);
          resolve();
        },
      };
      const leave = () => {
        this.#waiting.delete(turn);
        this.#next();
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", leave, { once: true });
      this.#waiting.add(turn);
    });
  }

  #giveBack(bytes: number): void {
    this.#taken -= bytes;
    this.#next();
  }

  #next(): void {
    for (const turn of this.#waiting) {
      if (!this.#fits(turn.bytes)) return;
      this.#waiting.delete(turn);
      this.#taken += turn.bytes;
      turn.go();
    }
  }

  #fits(bytes: number): boolean {
    return this.#taken === 0 || this.#taken + bytes <= this.#most;
  }
}
