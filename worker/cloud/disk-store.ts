/** Cloud files in a folder: workerd's disk service writes beside and renames, so a file is there whole or not at all. */
import type { CloudStore, StoredPart } from "./store.ts";

export class DiskStore implements CloudStore {
  readonly #disk: Fetcher;

  constructor(disk: Fetcher) {
    this.#disk = disk;
  }

  async put(key: string, bytes: ReadableStream<Uint8Array>): Promise<void> {
    await this.#ask(key, { method: "PUT", body: bytes });
  }

  async get(key: string, part?: StoredPart): Promise<ReadableStream<Uint8Array> | undefined> {
    const range = part && { Range: `bytes=${part.offset}-${part.offset + part.length - 1}` };
    const response = await this.#ask(key, { headers: { ...range } });
    return response.status === 404 ? undefined : (response.body ?? undefined);
  }

  async delete(key: string): Promise<void> {
    await this.#ask(key, { method: "DELETE" });
  }

  /** Rejects for any answer but success and 404. */
  async #ask(key: string, init: RequestInit): Promise<Response> {
    const response = await this.#disk.fetch(`http://cloud/${key}`, init);
    if (response.ok || response.status === 404) return response;
    throw new Error(`the folder of cloud files answered ${response.status} ${await response.text()}`);
  }
}
