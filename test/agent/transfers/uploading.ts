/** Uploads as a program makes them: begun, sent in pieces, put into place. */
import { readdirSync } from "node:fs";
import type { Incoming } from "../../../shared/streams/endpoint.ts";
import type { CallOptions, Workbench } from "../tools/workbench.ts";
import { MemoryStream, type MemoryStreamOptions, RESET, serve } from "./memory-stream.ts";

export const OPEN = { opensStream: true };

/** Begins an upload; returns its id. */
export async function begin(
  bench: Workbench,
  input: Record<string, unknown>,
  options: CallOptions = {},
): Promise<string> {
  return String((await bench.call("Upload", input, options)).metadata?.upload);
}

/** Continues an upload, and serves the stream to its end. */
export async function append(
  bench: Workbench,
  upload: string,
  offset: number,
  sends: MemoryStreamOptions["sends"],
  options: CallOptions = {},
) {
  const result = await bench.call("UploadAppend", { upload, offset }, { ...options, ...OPEN });
  return await serve(result, { sends: sends ?? [] });
}

/** The same, but the other end resets the stream after these pieces. Resolves with the error that the tool ends with. */
export async function appendAndReset(
  bench: Workbench,
  upload: string,
  offset: number,
  pieces: Iterable<Uint8Array>,
): Promise<unknown> {
  const { stream: serveStream } = await bench.call("UploadAppend", { upload, offset }, OPEN);
  const stream: MemoryStream = new MemoryStream({ sends: piecesThen(pieces, () => stream.reset(RESET)) });
  return await serveStream?.(stream).catch((error: unknown) => error);
}

async function* piecesThen(pieces: Iterable<Uint8Array>, then: () => void): AsyncGenerator<Uint8Array, void> {
  yield* pieces;
  then();
}

/** How many bytes of an upload have arrived. */
export async function arrived(bench: Workbench, upload: string, options?: CallOptions): Promise<number> {
  return Number((await bench.call("UploadInfo", { upload }, options)).metadata?.offset);
}

/** What the tool is sent one by one, when the test says so. */
export class Sender {
  readonly #pieces: Uint8Array[] = [];
  #more = Promise.withResolvers<void>();
  #taken = Promise.withResolvers<void>();
  #ended = false;

  /** Resolves when the tool has stored it, and asks for more. */
  async send(piece: Uint8Array): Promise<void> {
    this.#pieces.push(piece);
    this.#more.resolve();
    await this.#taken.promise;
    this.#taken = Promise.withResolvers();
  }

  end(): void {
    this.#ended = true;
    this.#more.resolve();
  }

  async *sends(): AsyncGenerator<Incoming, void> {
    while (!this.#ended) {
      await this.#more.promise;
      this.#more = Promise.withResolvers();
      for (let piece = this.#pieces.shift(); piece; piece = this.#pieces.shift()) {
        yield { kind: "data", bytes: piece };
        this.#taken.resolve();
      }
    }
  }
}

/** Parts of uploads in a folder. */
export function partsIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.endsWith(".part"));
}
