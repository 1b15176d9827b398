/** Hands on what comes, to one reader: what it was too slow to take is replaced by the newest. */
export class Newest<T> {
  readonly #signal: AbortSignal;
  #value: { readonly value: T } | undefined;
  #failure: { readonly error: unknown } | undefined;
  #arrived = Promise.withResolvers<void>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#arrived.resolve(), { once: true });
  }

  offer(value: T): void {
    this.#value = { value };
    this.#arrived.resolve();
  }

  /** Nothing more comes. */
  fail(error: unknown): void {
    this.#failure = { error };
    this.#arrived.resolve();
  }

  /** The newest that was not taken yet, or the next one. Throws the failure, or the signal's reason. */
  async take(): Promise<T> {
    await this.#arrived.promise;
    this.#signal.throwIfAborted();
    if (this.#failure) throw this.#failure.error;
    this.#arrived = Promise.withResolvers();
    const newest = this.#value;
    this.#value = undefined;
    return newest ? newest.value : await this.take();
  }
}
