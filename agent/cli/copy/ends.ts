/** The two ends of a copy: where a file's bytes come from, and where they go. Each is on this machine or on a device. */
import type { Hash } from "node:crypto";

/** A file as it was when the copy began. */
export interface SourceFacts {
  /** In bytes. */
  readonly size: number;
  /** Octal, such as `0644`. */
  readonly mode: string;
  /** ISO 8601. */
  readonly modified: string;
  /** Names this version of the content; undefined while another program writes it: then nothing can be continued. */
  readonly version: string | undefined;
  /** In hex, if it is known before the file is read. */
  readonly sha256?: string | undefined;
}

export interface Source {
  readonly facts: SourceFacts;
  /** Names it across runs. */
  readonly id: string;
  /** All bytes from an offset on. Throws MatrxError, also if the file is no longer the same version. */
  read(offset: number): AsyncIterable<Uint8Array>;
  /** Adds its first bytes to a digest; false if that would mean sending them. */
  digestStart(hash: Hash, length: number): Promise<boolean>;
  close(): Promise<void>;
}

export interface Sink {
  /** Makes ready for this file; resolves with how many of its bytes are there from an earlier run. Throws MatrxError. */
  begin(source: Pick<Source, "facts" | "id">): Promise<number>;
  /** Throws MatrxError. */
  write(bytes: Uint8Array): Promise<void>;
  digestStart(hash: Hash, length: number): Promise<boolean>;
  /** Puts the file into place, if its content has this SHA-256 or that is not known. Throws MatrxError. */
  finish(sha256: string | undefined): Promise<void>;
  /** What has arrived is not the file. */
  discard(): Promise<void>;
  /** Leaves what has arrived for the next run. */
  close(): Promise<void>;
}
