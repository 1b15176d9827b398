/** How the record's entries hang together, and the proof that they do: pure, and one entry at a time. */
import type { AuditHead } from "./audit.ts";
import { canonicalJson } from "./canonical-json.ts";

/** What the first entry follows. */
export const GENESIS = "0".repeat(64);

/** SHA-256 of a text's UTF-8, in lower-case hex. */
export type Sha256 = (text: string) => string | Promise<string>;

/** What an entry's hash covers. `entry` is canonical JSON, with its place in the chain, but not its hash. */
export function hashedText(prev: string, entry: string): string {
  return prev + entry;
}

/** What is wrong with an entry. `truncated`: the record ends before it. */
export type FaultKind = "edited" | "dropped" | "reordered" | "truncated";

/** The first wrong entry. */
export interface Fault {
  readonly seq: number;
  readonly kind: FaultKind;
  readonly message: string;
}

export interface Verdict {
  /** How many entries are in order. */
  readonly entries: number;
  /** The first that is there; 0 if none is. */
  readonly first: number;
  readonly last: Pick<AuditHead, "seq" | "hash">;
  /** Where reads may be missing. */
  readonly gaps: number;
  /** Absent if everything is in order. */
  readonly fault?: Fault | undefined;
}

/** An end of the record that somebody kept; `at`: when its entry was written. */
export type KnownHead = Pick<AuditHead, "seq" | "hash"> & { readonly at?: string | null };

/** What a relay deletes: entries beyond so many, and those older than so many milliseconds. */
export const RETENTION = { entries: 1_000_000, age: 400 * 24 * 60 * 60_000 } as const;
/** Entries go in rows, so some more than needed may go. */
const DELETED_ALONG = 1000;

interface Chained extends Record<string, unknown> {
  seq: number;
  prev: string;
  hash: string;
}

/**
 * Checks a whole record, oldest entry first, and that it holds each head that was ever seen of it. Entries are as they
 * were sent: unknown fields count.
 */
export async function verifyChain(
  entries: AsyncIterable<unknown> | Iterable<unknown>,
  { sha256, heads = [] }: { sha256: Sha256; heads?: readonly KnownHead[] },
): Promise<Verdict> {
  const chain = new Chain(heads);
  let jump: { expected: number; found: number } | undefined;
  for await (const entry of entries) {
    // Whether an entry is missing or only misplaced shows when the rest is known.
    if (jump) {
      if (seqOf(entry) === jump.expected) return chain.wrong(jump.expected, "reordered", misplaced(jump));
      continue;
    }
    if (!isChained(entry)) return chain.wrong(chain.next, "edited", "It is not an entry of a record");
    if (chain.isEmpty) chain.begin(entry);
    if (entry.seq < chain.next)
      return chain.wrong(entry.seq, "reordered", `It stands again, or late, after entry ${chain.next - 1}`);
    if (entry.seq > chain.next) {
      jump = { expected: chain.next, found: entry.seq };
      continue;
    }
    const { hash, ...hashed } = entry;
    if ((await sha256(hashedText(entry.prev, canonicalJson(hashed)))) !== hash)
      return chain.wrong(entry.seq, "edited", "Its content is not what its hash was made of");
    const fault = chain.add(entry);
    if (fault) return chain.wrong(fault.seq, fault.kind, fault.message);
  }
  if (jump) return chain.wrong(jump.expected, "dropped", `Entry ${jump.found} stands where it should be`);
  return chain.end();
}

/** The part of a record that is in order so far. */
class Chain {
  readonly #heads: readonly KnownHead[];
  #first = 0;
  #entries = 0;
  #gaps = 0;
  #last: KnownHead = { seq: 0, hash: GENESIS };
  /** What the first entry follows, if that must still be confirmed by an entry that tells of the deletion. */
  #unconfirmed: KnownHead | undefined;

  constructor(heads: readonly KnownHead[]) {
    this.#heads = [...heads].sort((one, other) => one.seq - other.seq);
  }

  get isEmpty(): boolean {
    return this.#first === 0;
  }

  /** The sequence number that must come next. */
  get next(): number {
    return this.#last.seq + 1;
  }

  /** Old entries may have been deleted: then the record itself must say so. */
  begin({ seq, prev }: Chained): void {
    this.#first = seq;
    if (seq <= 1) return;
    this.#last = { seq: seq - 1, hash: prev };
    this.#unconfirmed = this.#last;
  }

  add(entry: Chained): Fault | undefined {
    const { seq, hash, prev, type } = entry;
    if (prev !== this.#last.hash)
      return seq === this.#first
        ? { seq, kind: "edited", message: "It is the first, but claims to follow another" }
        : {
            seq: seq - 1,
            kind: "edited",
            message: `It was replaced, or entries between it and the next were dropped: entry ${seq} follows another`,
          };
    if (this.#heads.some((head) => head.seq === seq && head.hash !== hash)) {
      const agreed = this.#heads.filter((head) => head.seq < seq && head.seq >= this.#first).at(-1)?.seq;
      const since = (agreed ?? this.#first - 1) + 1;
      return {
        seq: since,
        kind: "edited",
        message: `Entries ${since} to ${seq} were rewritten: a head that was kept has another hash for entry ${seq}`,
      };
    }
    this.#entries++;
    this.#last = { seq, hash };
    if (type === "gap") this.#gaps++;
    if (
      type === "pruned" &&
      entry.until === this.#unconfirmed?.seq &&
      entry.until_hash === this.#unconfirmed?.hash
    ) {
      this.#unconfirmed = undefined;
      return this.#unexplained(entry);
    }
    return undefined;
  }

  /** Whoever kept a head knows when entries were written that are said to have been deleted because of their age. */
  #unexplained({ seq, at, until, until_hash: untilHash }: Chained): Fault | undefined {
    if (typeof until !== "number") return undefined;
    const gone = this.#heads.filter((head) => head.seq <= until);
    const other = gone.find((head) => head.seq === until && head.hash !== untilHash);
    if (other)
      return {
        seq: until,
        kind: "edited",
        message: `It was deleted, and a head that was kept has another hash for it than entry ${seq} says`,
      };
    if (seq - until > RETENTION.entries - DELETED_ALONG) return undefined;
    const tooYoung = gone.find(
      (head) => head.at && Date.parse(String(at)) - Date.parse(head.at) < RETENTION.age,
    );
    return (
      tooYoung && {
        seq: tooYoung.seq,
        kind: "dropped",
        message: `Entry ${seq} says that it was deleted because of its age, but a head that was kept says that it was written at ${tooYoung.at}`,
      }
    );
  }

  wrong(seq: number, kind: FaultKind, message: string): Verdict {
    return { ...this.#verdict(), fault: { seq, kind, message } };
  }

  end(): Verdict {
    const newest = this.#heads.at(-1);
    if (newest && newest.seq > this.#last.seq)
      return this.wrong(
        this.next,
        "truncated",
        `The record ends here, but a head that was kept says that entry ${newest.seq} was written`,
      );
    if (this.#unconfirmed)
      return this.wrong(
        this.#unconfirmed.seq,
        "dropped",
        "The record begins after it, and does not say that older entries were deleted",
      );
    return this.#verdict();
  }

  #verdict(): Verdict {
    return { entries: this.#entries, first: this.#first, last: this.#last, gaps: this.#gaps };
  }
}

function isChained(entry: unknown): entry is Chained {
  if (typeof entry !== "object" || entry === null) return false;
  const { seq, prev, hash } = entry as Record<string, unknown>;
  return Number.isSafeInteger(seq) && typeof prev === "string" && typeof hash === "string";
}

function seqOf(entry: unknown): unknown {
  return isChained(entry) ? entry.seq : undefined;
}

function misplaced({ expected, found }: { expected: number; found: number }): string {
  return `Entry ${found} stands in its place, and entry ${expected} later`;
}
