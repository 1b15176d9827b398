/** A file of a device, as an end of a copy. */
import { hash as hashText } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { callerError, MatrxError } from "@matrx/shared/errors.ts";
import type { StreamEnd } from "@matrx/shared/streams/endpoint.ts";
import * as z from "zod";
import { makePrivateFolder, readJsonFile, writePrivateFile } from "../../platform/private-file.ts";
import { type DeviceCalls, parsed, type RemoteFacts } from "./device-calls.ts";
import type { Sink, Source } from "./ends.ts";

export function remoteSource(calls: DeviceCalls, device: string, facts: RemoteFacts): Source {
  const { path, size = 0, mode, modified, etag, sha256 } = facts;
  return {
    id: `${device}:${path}`,
    facts: { size, mode, modified, version: etag, sha256 },
    async *read(offset) {
      const { stream } = await calls.download({ path, offset, ...(etag !== undefined && { if_etag: etag }) });
      for await (const piece of stream.incoming()) if (piece.kind === "data") yield piece.bytes;
    },
    digestStart: async () => false,
    close: async () => undefined,
  };
}

const uploadSchema = z.object({ upload: z.string(), offset: z.number(), finished: z.boolean().optional() });
const begunSchema = z.object({ upload: z.string() });

export interface RemoteSinkOptions {
  readonly calls: DeviceCalls;
  readonly device: string;
  readonly path: string;
  /** Where uploads are noted that can be continued. */
  readonly notes: string;
}

/** A file that is uploaded beside its name, and gets it when it is complete. */
export class RemoteSink implements Sink {
  readonly #options: RemoteSinkOptions;
  #note: string | undefined;
  #upload: { readonly id: string; readonly stream: StreamEnd } | undefined;

  constructor(options: RemoteSinkOptions) {
    this.#options = options;
  }

  async begin({ facts, id }: Pick<Source, "facts" | "id">): Promise<number> {
    const { calls, device, path, notes } = this.#options;
    const key = JSON.stringify([device, path, id, facts.version]);
    this.#note = facts.version === undefined ? undefined : join(notes, `${hashText("sha256", key)}.json`);
    const known = await this.#continued();
    if (known !== undefined) return known;
    const { size, mode, modified, sha256 } = facts;
    const input = { path, size, mode: mode.slice(-3), modified, create_directories: true };
    const { answer, stream } = await calls.upload("Upload", { ...input, ...(sha256 && { sha256 }) });
    const { upload } = parsed("Upload", answer, uploadSchema);
    this.#upload = { id: upload, stream };
    if (this.#note !== undefined) {
      makePrivateFolder(notes);
      writePrivateFile(this.#note, `${JSON.stringify({ upload })}\n`);
    }
    return 0;
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#opened().stream.write(bytes);
  }

  digestStart(): Promise<boolean> {
    return Promise.resolve(false);
  }

  async finish(sha256: string | undefined): Promise<void> {
    const { id, stream } = this.#opened();
    await stream.end();
    // The device says that all of it is stored.
    for await (const _nothing of stream.incoming());
    const input = { upload: id, ...(sha256 !== undefined && { sha256 }) };
    await this.#options.calls.call("UploadCommit", input, z.unknown());
    this.#forget();
  }

  async discard(): Promise<void> {
    const { id, stream } = this.#opened();
    stream.reset({ code: "CANCELLED", message: "The content is wrong", hop: "caller" });
    this.#forget();
    await this.#options.calls.call("UploadAbort", { upload: id }, z.unknown());
  }

  async close(): Promise<void> {
    this.#upload?.stream.reset({ code: "CANCELLED", message: "The copy was stopped", hop: "caller" });
  }

  /** Continues what an earlier run began; undefined if there is nothing. */
  async #continued(): Promise<number | undefined> {
    const { calls } = this.#options;
    const upload = this.#note && readJsonFile(this.#note, begunSchema)?.upload;
    if (upload === undefined) return undefined;
    try {
      const { offset, finished } = await calls.call("UploadInfo", { upload }, uploadSchema);
      if (finished) return undefined;
      const { stream } = await calls.upload("UploadAppend", { upload, offset });
      this.#upload = { id: upload, stream };
      return offset;
    } catch (error) {
      if (!(error instanceof MatrxError) || error.code !== "NOT_FOUND") throw error;
      this.#forget();
      return undefined;
    }
  }

  #forget(): void {
    if (this.#note !== undefined) rmSync(this.#note, { force: true });
  }

  #opened(): { id: string; stream: StreamEnd } {
    if (!this.#upload) throw callerError("INTERNAL", "the copy has not begun");
    return this.#upload;
  }
}
