/**
 * Writes a zip file as a stream, one entry after the other. Its own, because a file that changes while it is sent has to
 * be taken back when part of it is gone: the libraries either end the whole file then, or keep the half entry.
 */
import { pipeline, Readable } from "node:stream";
import { promisify } from "node:util";
import { crc32, createDeflateRaw, deflateRaw } from "node:zlib";
import { PIECE_BYTES } from "./send-file.ts";
import {
  centralHeader,
  DEFLATED,
  descriptor,
  endRecords,
  localHeader,
  STORED,
  type ZipEntry,
} from "./zip-format.ts";

export interface EntryFacts {
  readonly name: Buffer;
  /** As `st_mode`. */
  readonly mode: number;
  readonly modified: Date;
}

/** Fast rather than small: a home machine has other work. */
const OPTIONS = { level: 3, chunkSize: 64 * 1024 };
/** From this announced size on, an entry has fields of 64 bits; deflating may enlarge it a little. */
const LARGE_FROM = 0xf0000000;

const deflateWhole = promisify(deflateRaw);

export class ZipWriter {
  readonly #sink: (bytes: Buffer) => Promise<void>;
  readonly #entries: ZipEntry[] = [];
  #offset = 0;
  #batch: Buffer[] = [];
  #batched = 0;

  /** `sink` gets pieces of at most 256 KiB, if those of the content are no larger. */
  constructor(sink: (bytes: Buffer) => Promise<void>) {
    this.#sink = sink;
  }

  get entries(): number {
    return this.#entries.length;
  }

  /** Adds a folder, a link, or a small file. */
  async add(facts: EntryFacts, content: Buffer, deflates = false): Promise<void> {
    const deflated = deflates && content.length > 0 ? await deflateWhole(content, OPTIONS) : content;
    const isSmaller = deflated.length < content.length;
    const packed = isSmaller ? deflated : content;
    const entry: ZipEntry = {
      ...{ ...facts, offset: this.#offset, streamed: false, large: false },
      method: isSmaller ? DEFLATED : STORED,
      ...{ crc: crc32(content), size: content.length, packedSize: packed.length },
    };
    await this.#write(localHeader(entry));
    await this.#write(packed);
    this.#entries.push(entry);
  }

  /**
   * Adds a file piece by piece. If `pieces` throws, throws the same: the entry is then not in the zip's directory, and
   * has a wrong checksum for programs that read without it.
   */
  async addPieces(
    facts: EntryFacts,
    pieces: AsyncIterable<Buffer>,
    { size: expected, deflates }: { size: number; deflates: boolean },
  ): Promise<void> {
    const large = expected >= LARGE_FROM;
    const method = deflates ? DEFLATED : STORED;
    const begun = { ...facts, offset: this.#offset, streamed: true, large, method } as const;
    await this.#write(localHeader({ ...begun, crc: 0, size: 0, packedSize: 0 }));
    const read = new Measured(pieces);
    const start = this.#offset;
    for await (const piece of deflates ? deflated(read) : read.pieces()) await this.#write(piece);
    const sizes = { size: read.size, packedSize: this.#offset - start };
    const crc = read.failure === undefined ? read.crc : ~read.crc >>> 0;
    const entry: ZipEntry = { ...begun, ...sizes, crc };
    await this.#write(descriptor(entry));
    if (read.failure !== undefined) throw read.failure;
    this.#entries.push(entry);
  }

  /** Writes the directory. The comment may have 65,535 bytes. */
  async finish(comment: string): Promise<void> {
    const start = this.#offset;
    for (const entry of this.#entries) await this.#write(centralHeader(entry));
    await this.#write(endRecords(this.#entries.length, start, this.#offset - start, comment));
    await this.#flush();
  }

  async #write(bytes: Buffer): Promise<void> {
    if (this.#batched + bytes.length > PIECE_BYTES) await this.#flush();
    this.#batch.push(bytes);
    this.#batched += bytes.length;
    this.#offset += bytes.length;
  }

  async #flush(): Promise<void> {
    const [first, ...more] = this.#batch;
    this.#batch = [];
    this.#batched = 0;
    if (first) await this.#sink(more.length > 0 ? Buffer.concat([first, ...more]) : first);
  }
}

/** Measures what passes; a failure ends it, and is kept. */
class Measured {
  readonly #pieces: AsyncIterable<Buffer>;
  crc = 0;
  size = 0;
  failure: unknown;

  constructor(pieces: AsyncIterable<Buffer>) {
    this.#pieces = pieces;
  }

  async *pieces(): AsyncGenerator<Buffer, void> {
    try {
      for await (const piece of this.#pieces) {
        this.crc = crc32(piece, this.crc);
        this.size += piece.length;
        yield piece;
      }
    } catch (error) {
      this.failure = error ?? new Error("it failed");
    }
  }
}

function deflated(read: Measured): AsyncIterable<Buffer> {
  const source = Readable.from(read.pieces(), { objectMode: true, highWaterMark: 1 });
  // The reader of the result sees its errors; the callback is there so that the source ends with it.
  return pipeline(source, createDeflateRaw(OPTIONS), () => undefined);
}
