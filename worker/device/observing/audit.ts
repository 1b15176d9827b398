/**
 * Tells the record what was called. Calls with an effect are read from the ledger, so they are told even if this object
 * dies first; refusals have a row until they are told. Calls that only read, and counts of equal refusals, wait in memory;
 * a mark in storage says that there may be some, and whoever finds it after a crash tells the record of a gap.
 */
import type { AuditDraft, AuditHead } from "@matrx/shared/audit.ts";
import type { CallId, DeviceId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { logWarning } from "../../log.ts";
import type { StorageHealth } from "../../storage/health.ts";
import type { Storage } from "../../storage/watched.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { RecordStore } from "../store.ts";
import { Timer } from "../timer.ts";
import { callDraft } from "./drafts.ts";

/** The records of accounts, as a device knows them. */
export interface Records {
  getByName(account: string): {
    append(drafts: AuditDraft[]): Promise<AuditHead>;
    head(): Promise<AuditHead>;
  };
}

interface AuditHost {
  readonly store: RecordStore;
  readonly ledger: Ledger;
  readonly storage: Pick<Storage, "sql" | "kv">;
  readonly health: Pick<StorageHealth, "isFailing">;
  readonly records: Records;
  /** What the record was told. */
  readonly onTold: (drafts: readonly AuditDraft[]) => void;
  /** The record's end, after something of this device was added. */
  readonly onHead: (head: AuditHead) => void;
  /** Sends by then, even if the object sleeps; in milliseconds since 1970. */
  readonly sendBy: (at: number) => void;
}

/** Until everything is told: since when calls ended of which the record may not know. */
interface Mark {
  readonly since: number;
  /** Some of them only in memory. */
  readonly reads: boolean;
}

/** What had no room in memory, since when. */
interface Lost {
  readonly since: number;
  count: number;
}

/** Drafts are sent together: so many, or those of so many milliseconds. */
const BATCH = { entries: 500, within: 250 } as const;
/** So many wait in memory while the record cannot be reached; more are counted as lost. */
const WAITING_MAX = 10_000;
const RETRY = { first: 1_000, max: 60_000 } as const;
const MARK = "audit";

export class AuditFeed {
  readonly #host: AuditHost;
  readonly #timer = new Timer(() => void this.send(Date.now()));
  /** Described when they are sent. */
  #waiting: (() => AuditDraft)[] = [];
  /** Calls with a row, whose end is to be told. */
  readonly #recorded = new Set<CallId>();
  /** Whether the outbox may have rows. */
  #hasKept = false;
  #mark: Mark | undefined;
  #hasReads = false;
  /** Whether something began since the last look. */
  #isBusy = false;
  #failures = 0;
  #lost: Lost | undefined;
  #isSending = false;
  #sent: Promise<void> = Promise.resolve();

  constructor(host: AuditHost) {
    this.#host = host;
  }

  /** After a start: what the record may not know yet. A mark that is left means that the object before this one died. */
  restore(now: number): void {
    this.#mark = this.#host.storage.kv.get<Mark>(MARK);
    if (!this.#mark) return;
    const { since, reads } = this.#mark;
    for (const call of this.#host.ledger.endedSince(since)) this.#recorded.add(call);
    if (reads) this.#waiting.push(this.#gap(since, now));
    this.#hasKept = true;
    this.#timer.by(now + BATCH.within);
  }

  /** Something begins that leaves a trace only in memory. */
  expectRead(): void {
    this.#hasReads = true;
  }

  /** Called after the frame of a call has left, so that the mark does not hold it up. */
  mark(now: number): void {
    this.#isBusy = true;
    if (this.#hasReads && !this.#mark?.reads) this.#setMark({ since: this.#mark?.since ?? now, reads: true });
  }

  /** Something that is only in memory until it is told. */
  note(describe: () => AuditDraft, now: number): void {
    if (this.#waiting.length >= WAITING_MAX) {
      this.#lost ??= { since: now, count: 0 };
      this.#lost.count++;
      return;
    }
    this.#waiting.push(describe);
    this.#soon();
  }

  /** A call with a row has ended, or more is known of its end. */
  recorded(call: CallId, now: number): void {
    this.#recorded.add(call);
    if (!this.#mark) this.#setMark({ since: now, reads: false });
    this.#soon();
  }

  /** Something that must not be lost, whatever happens. */
  keep(draft: AuditDraft, now: number): void {
    if (this.#host.health.isFailing) return this.note(() => draft, now);
    try {
      this.#host.storage.sql.exec("INSERT INTO audit_outbox (draft) VALUES (?)", JSON.stringify(draft));
    } catch (error) {
      logWarning("an entry for the record was not stored, and is sent from memory", error);
      return this.note(() => draft, now);
    }
    this.#hasKept = true;
    this.#host.sendBy(now + RETRY.max);
    this.#soon();
  }

  /** Removes the mark once all is told and nothing began since the last look. Returns when to look again, in milliseconds since 1970. */
  settle(now: number, hasUntoldReads: boolean): number | undefined {
    if (!this.#mark || this.#host.health.isFailing) return undefined;
    const isBusy = this.#isBusy;
    this.#isBusy = false;
    if (isBusy || !this.#isEmpty || this.#isSending || hasUntoldReads) return now + TIMES.settleAfter;
    this.#host.storage.kv.delete(MARK);
    this.#mark = undefined;
    this.#hasReads = false;
    return undefined;
  }

  /** Whether something began since the last look. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Handles the alarm: what was kept is sent, whatever this object knows of it. */
  async ring(now: number): Promise<number | undefined> {
    this.#hasKept = true;
    await this.send(now);
    return this.#hasKept ? now + RETRY.max : undefined;
  }

  /** Sends all that waits. Never rejects: what the record did not take is sent again. */
  send(now: number): Promise<void> {
    if (!this.#isSending) this.#sent = this.#sendAll(now);
    return this.#sent;
  }

  get #isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#recorded.size === 0 && !this.#hasKept && !this.#lost;
  }

  async #sendAll(now: number): Promise<void> {
    this.#isSending = true;
    try {
      if (this.#host.health.isFailing) throw new Error("the storage takes no writes");
      while (!this.#isEmpty && this.#host.store.record) await this.#sendBatch(now);
      this.#failures = 0;
    } catch (error) {
      const wait = Math.min(RETRY.first * 2 ** this.#failures++, RETRY.max);
      logWarning(`the record was not reached, again in ${wait} ms`, error);
      this.#timer.by(Date.now() + wait);
    } finally {
      this.#isSending = false;
    }
  }

  async #sendBatch(now: number): Promise<void> {
    const { store, ledger, records, onTold, onHead } = this.#host;
    if (!store.record) return;
    const { account, id: device } = store.record;
    const kept = this.#kept();
    const calls = [...this.#recorded].slice(0, BATCH.entries);
    const noted = this.#waiting.slice(0, BATCH.entries);
    const lost = this.#lost;
    this.#lost = undefined;
    if (kept.length === 0) this.#hasKept = false;
    const drafts = [
      ...kept.map(({ draft }) => JSON.parse(draft) as AuditDraft),
      ...calls.flatMap((call) => callDraft(ledger.audited(call), device)),
      ...noted.map((describe) => describe()),
      ...(lost ? [this.#gap(lost.since, now, lost.count)()] : []),
    ].sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
    for (const call of calls) this.#recorded.delete(call);
    try {
      if (drafts.length > 0) onHead(await records.getByName(account).append(drafts));
    } catch (error) {
      for (const call of calls) this.#recorded.add(call);
      if (lost) this.#loseAlso(lost);
      throw error;
    }
    onTold(drafts);
    this.#waiting = this.#waiting.slice(noted.length);
    const [last] = kept.slice(-1);
    if (last) this.#host.storage.sql.exec("DELETE FROM audit_outbox WHERE id <= ?", last.id);
  }

  /** Losses that the record was not told of, besides those since. */
  #loseAlso({ since, count }: Lost): void {
    this.#lost = { since, count: count + (this.#lost?.count ?? 0) };
  }

  #kept(): { id: number; draft: string }[] {
    if (!this.#hasKept) return [];
    return this.#host.storage.sql
      .exec<{ id: number; draft: string }>(
        "SELECT id, draft FROM audit_outbox ORDER BY id LIMIT ?",
        BATCH.entries,
      )
      .toArray();
  }

  #gap(since: number, until: number, lost?: number): () => AuditDraft {
    const device = (this.#host.store.record?.id ?? "") as DeviceId;
    const draft: AuditDraft = {
      ...{ id: `gap:${crypto.randomUUID()}`, type: "gap", at: iso(until), device },
      ...{ since: iso(since), until: iso(until), ...(lost !== undefined && { lost }) },
    };
    return () => draft;
  }

  /** What is being sent goes on until nothing waits. */
  #soon(): void {
    if (this.#isSending) return;
    const now = Date.now();
    this.#timer.by(this.#waiting.length >= BATCH.entries ? now : now + BATCH.within);
  }

  #setMark(mark: Mark): void {
    if (this.#host.health.isFailing || !this.#host.store.record) return;
    this.#mark = mark;
    this.#host.storage.kv.put(MARK, mark);
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
