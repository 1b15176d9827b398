/** Calls as they happen, for people who watch: in small batches to the Account, and only while somebody watches. */
import type { ActivityEntry } from "@matrx/shared/activity.ts";
import { logWarning } from "../../log.ts";
import type { StorageHealth } from "../../storage/health.ts";
import type { Kv } from "../../storage/watched.ts";
import type { Accounts } from "../leases.ts";
import type { RecordStore } from "../store.ts";
import { Timer } from "../timer.ts";

/** Entries are sent together if they come within this time, in milliseconds. */
const BATCH_WITHIN = 100;
/** A watcher who is this far behind has no use for more. */
const BATCH_MAX = 500;

interface ActivityHost {
  readonly store: Pick<RecordStore, "record">;
  readonly accounts: Accounts;
  readonly kv: Kv;
  readonly health: Pick<StorageHealth, "isFailing">;
}

const KEY = "watched_until";

export class ActivityFeed {
  readonly #host: ActivityHost;
  readonly #timer = new Timer(() => this.#flush());
  /** Until when somebody watches, in milliseconds since 1970. Stored: an idle object sleeps, and must tell the next call too. */
  #until: number | undefined;
  #entries: ActivityEntry[] = [];

  constructor(host: ActivityHost) {
    this.#host = host;
  }

  /** Somebody watches until then, in milliseconds since 1970. */
  watch(until: number): void {
    if (until <= this.#watchedUntil) return;
    this.#until = until;
    if (!this.#host.health.isFailing) this.#host.kv.put(KEY, until);
  }

  isWatched(now: number): boolean {
    return now < this.#watchedUntil;
  }

  note(entry: ActivityEntry, now: number): void {
    if (this.#entries.length >= BATCH_MAX) return;
    this.#entries.push(entry);
    this.#timer.by(now + BATCH_WITHIN);
  }

  /** For an unknown device nothing is read. */
  get #watchedUntil(): number {
    this.#until ??= (this.#host.store.record && this.#host.kv.get<number>(KEY)) ?? 0;
    return this.#until;
  }

  #flush(): void {
    const { record } = this.#host.store;
    const entries = this.#entries;
    this.#entries = [];
    if (!record || entries.length === 0) return;
    this.#host.accounts
      .getByName(record.account)
      .noteActivity(record.id, entries)
      .catch((error: unknown) => logWarning("those who watch missed some calls", error));
  }
}
