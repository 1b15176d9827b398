/** Reads exactly so many bytes of a stream, so that what follows can be passed on by the runtime itself. */
import type { ExactSource } from "@matrx/shared/forwarding/pieces.ts";

export class ExactReader implements ExactSource {
  readonly #reader: ReadableStreamBYOBReader;

  constructor(bytes: ReadableStream<Uint8Array>) {
    this.#reader = bytes.getReader({ mode: "byob" });
  }

  async exactly(length: number): Promise<Uint8Array | undefined> {
    const { value } = await this.#reader.readAtLeast(length, new Uint8Array(length));
    if (!value || value.length === 0) return undefined;
    if (value.length < length) throw new Error("The bytes end too early");
    return value;
  }

  /** The stream is whoever's that reads it next. */
  release(): void {
    this.#reader.releaseLock();
  }

  cancel(): void {
    void this.#reader.cancel().catch(() => undefined);
  }
}
