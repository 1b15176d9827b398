/** Digests of files, kept as long as the file is the same to the system. */
import { hash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { stampOf } from "../core/approved-state.ts";
import { sha256Of } from "../text/chunks.ts";

/** Larger files have no digest, because reading them would delay the first byte; in bytes. */
const HASHED_MAX_BYTES = 1024 * 1024 * 1024;
/** Digests that are kept; the one that was not used for longest goes first. */
const MOST = 4096;
/** Coarsest resolution of a file's times, in milliseconds: two changes within it may look like one. */
const RESOLUTION_MS = 2000;

export interface Validators {
  /** Changes with the content. Absent while another program is writing the file. */
  readonly etag?: string;
  /** Of the whole content, in hex. Absent if it is too large. */
  readonly sha256?: string;
}

export interface DigestsOptions {
  readonly most?: number;
  readonly hashedMaxBytes?: number;
  readonly now?: () => number;
}

export class Digests {
  readonly #most: number;
  readonly #hashedMaxBytes: number;
  readonly #now: () => number;
  readonly #known = new Map<string, string>();

  constructor({ most = MOST, hashedMaxBytes = HASHED_MAX_BYTES, now = Date.now }: DigestsOptions = {}) {
    this.#most = most;
    this.#hashedMaxBytes = hashedMaxBytes;
    this.#now = now;
  }

  /** Throws the system's error, or the signal's reason. */
  async validatorsOf(
    { handle, stat }: { handle: FileHandle; stat: BigIntStats },
    signal: AbortSignal,
  ): Promise<Validators> {
    // By size alone, so that the same content always has the same tag.
    if (stat.size > this.#hashedMaxBytes) return { etag: tagOfIdentity(stat) };
    const stamp = stampOf(stat);
    const known = this.#known.get(stamp);
    const sha256 = known ?? (await sha256Of(handle, signal));
    if (!known && stampOf(await handle.stat({ bigint: true })) !== stamp) return {};
    if (known || this.#isSettled(stat)) this.#keep(stamp, sha256);
    return { etag: sha256, sha256 };
  }

  /** The etag of a file whose digest was just computed. */
  etagOf(stat: BigIntStats, sha256: string): string {
    return stat.size > this.#hashedMaxBytes ? tagOfIdentity(stat) : sha256;
  }

  /** A file that has just changed may change again within the resolution of its times, and look the same. */
  #isSettled({ ctimeNs }: BigIntStats): boolean {
    return this.#now() - Number(ctimeNs / 1_000_000n) > RESOLUTION_MS;
  }

  #keep(stamp: string, sha256: string): void {
    this.#known.delete(stamp);
    this.#known.set(stamp, sha256);
    const [oldest] = this.#known.keys();
    if (this.#known.size > this.#most && oldest !== undefined) this.#known.delete(oldest);
  }
}

function tagOfIdentity(stat: BigIntStats): string {
  return `id-${hash("sha256", stampOf(stat)).slice(0, 32)}`;
}
