/**
 * An object's scheduled work, which also wakes it from hibernation: one row per name, all under one key, and the
 * platform's single alarm set to the earliest. Alarms fire at least once: a handler asks its own tables what is due.
 */
import { logWarning } from "../log.ts";
import type { Kv } from "./watched.ts";

/** Does what is due, and returns when it is next due, in milliseconds since 1970; undefined if nothing is left. */
type AlarmHandler = (now: number) => number | undefined | Promise<number | undefined>;

interface AlarmStorage {
  readonly kv: Pick<Kv, "get" | "put" | "delete">;
  getAlarm(): Promise<number | null>;
  setAlarm(at: number): Promise<void>;
}

interface Row {
  /** Milliseconds since 1970. */
  due: number;
  /** Consecutive failures of its handler. */
  failures: number;
}

type AlarmRows = Record<string, Row>;

const ALARMS = "alarms";
const RETRY_FIRST = 1_000;
const RETRY_MAX = 300_000;

export class AlarmTable<Name extends string> {
  readonly #storage: AlarmStorage;
  readonly #handlers: Readonly<Record<Name, AlarmHandler>>;
  readonly #health: { readonly isFailing: boolean };
  /** What the platform's alarm is set to; undefined until known, since this object just woke. */
  #set: number | undefined;
  #isRinging = false;
  /** Handlers that are running, and the time they were asked to run again meanwhile. */
  readonly #running = new Map<string, number>();

  constructor(
    storage: AlarmStorage,
    handlers: Readonly<Record<Name, AlarmHandler>>,
    health: { readonly isFailing: boolean } = { isFailing: false },
  ) {
    this.#storage = storage;
    this.#handlers = handlers;
    this.#health = health;
    // The platform drops an alarm that failed too often, for example under a program that could not read the data.
    if (storage.kv.get(ALARMS)) void this.#recover();
  }

  /** Schedules a handler for `at` (milliseconds since 1970), unless it is already due sooner; only then does this write. */
  by(name: Name, at: number): void {
    if (this.#health.isFailing) return;
    const asked = this.#running.get(name);
    if (asked !== undefined) return void this.#running.set(name, Math.min(asked, at));
    const rows = this.#rows();
    const isSooner = !(rows[name] && rows[name].due <= at);
    if (isSooner) this.#write({ ...rows, [name]: { due: at, failures: 0 } });
    if (isSooner || this.#set !== undefined) this.#arm();
  }

  /** Handles the platform's alarm: runs everything that is due concurrently, and waits for all of it. */
  async ring(now: number): Promise<void> {
    const rows = this.#rows();
    // The alarm was set to the earliest row, so that row is due, whatever this clock says.
    const until = Math.max(now, earliest(rows));
    this.#set = Number.POSITIVE_INFINITY;
    this.#isRinging = true;
    const due = Object.keys(rows).filter((name) => (rows[name]?.due ?? until) <= until);
    try {
      await Promise.all(due.map((name) => this.#run(name, now)));
    } finally {
      this.#isRinging = false;
    }
    this.#arm();
  }

  async #run(name: string, now: number): Promise<void> {
    if (!Object.hasOwn(this.#handlers, name)) {
      logWarning(`alarm: nothing is known of ${name}, dropped`);
      return this.#settle(name, undefined);
    }
    this.#running.set(name, Number.POSITIVE_INFINITY);
    try {
      const next = await this.#handlers[name as Name](now);
      const at = Math.min(
        next ?? Number.POSITIVE_INFINITY,
        this.#running.get(name) ?? Number.POSITIVE_INFINITY,
      );
      this.#settle(name, Number.isFinite(at) ? { due: at, failures: 0 } : undefined);
    } catch (error) {
      const failures = this.#rows()[name]?.failures ?? 0;
      const wait = Math.min(RETRY_FIRST * 2 ** failures, RETRY_MAX);
      logWarning(`alarm: ${name} failed, again in ${wait} ms`, error);
      this.#settle(name, { due: now + wait, failures: failures + 1 });
    } finally {
      this.#running.delete(name);
    }
  }

  #settle(name: string, row: Row | undefined): void {
    if (this.#health.isFailing) return;
    const { [name]: former, ...rows } = this.#rows();
    if (former || row) this.#write(row ? { ...rows, [name]: row } : rows);
  }

  /** Sets the platform's alarm to the earliest row, unless it already fires by then. While handlers run, this waits for the end. */
  #arm(): void {
    if (this.#isRinging || this.#health.isFailing) return;
    const next = earliest(this.#rows());
    if (next >= (this.#set ?? Number.POSITIVE_INFINITY)) return;
    this.#set = next;
    void this.#storage.setAlarm(next);
  }

  async #recover(): Promise<void> {
    const set = await this.#storage.getAlarm();
    this.#set ??= set ?? Number.POSITIVE_INFINITY;
    this.#arm();
  }

  #rows(): AlarmRows {
    return this.#storage.kv.get<AlarmRows>(ALARMS) ?? {};
  }

  #write(rows: AlarmRows): void {
    if (Object.keys(rows).length > 0) this.#storage.kv.put(ALARMS, rows);
    else this.#storage.kv.delete(ALARMS);
  }
}

function earliest(rows: AlarmRows): number {
  return Math.min(...Object.values(rows).map(({ due }) => due));
}
