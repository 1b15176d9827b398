/** Calls as they happen, for people who watch: in small batches to the Account, and only while somebody watches. */
import type { ActivityEntry } from "@matrx/shared/activity.ts";
import { logWarning } from "../../log.ts";
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
}

export class ActivityFeed {
  readonly #host: ActivityHost;
  readonly #timer = new Timer(() => this.#flush());
  /** Until when somebody watches, in milliseconds since 1970. */
  #until = 0;
  #entries: ActivityEntry[] = [];

  constructor(host: ActivityHost) {
    this.#host = host;
  }

  /** Somebody watches until then, in milliseconds since 1970. */
  watch(until: number): void {
    this.#until = Math.max(this.#until, until);
  }

  isWatched(now: number): boolean {
    return now < this.#until;
  }

  note(entry: ActivityEntry, now: number): void {
    if (this.#entries.length >= BATCH_MAX) return;
    this.#entries.push(entry);
    this.#timer.by(now + BATCH_WITHIN);
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
