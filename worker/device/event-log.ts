/**
 * The last hundred events that a device reported. Events with the same type and key describe one condition; the newest
 * tells whether it is open. The rate allows a burst, then one event every ten seconds; its state is in the newest row, so
 * that neither hibernation nor a restart resets it.
 */
import type { EventView } from "@matrx/shared/api.ts";
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import { type DeviceEvent, severityRank } from "@matrx/shared/events.ts";
import { makeEventId } from "@matrx/shared/ids.ts";
import { isLongerThan } from "@matrx/shared/json-input.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import type { StorageHealth } from "../storage/health.ts";
import type { Kv, Sql, Storage } from "../storage/watched.ts";

interface EventRow extends Record<string, SqlStorageValue> {
  seq: number;
  id: string;
  event_type: string;
  key: string | null;
  severity: string | null;
  data: string;
  resolved: number;
  open: number;
  timestamp: string | null;
  received: number;
  /** Until when this event and those before it use up the device's rate, in milliseconds since 1970. */
  taken_until: number;
  dropped: number;
}

/** Derived from the rows once, then kept in memory. */
interface Known {
  /** The sequence number of the newest event; 0 if there is none. */
  end: number;
  open: number;
  /** Number of events dropped since the newest one. */
  dropped: number;
  /** How many of those are stored. */
  droppedKept: number;
}

/** What is stored with an event. */
interface Placement {
  known: Known;
  data: string;
  opens: boolean;
  takenUntil: number;
  now: number;
}

/** What became of an event. `opened`: it begins a condition, or says that one is worse. `false`: it was stored before, or dropped. */
export type Kept = false | "kept" | "opened";

/** An event and its sequence number. */
interface NumberedEvent {
  seq: number;
  event: EventView;
}

const DROPPED = "events_dropped";
/** The first characters of a UUIDv7 are its time, in milliseconds. */
const TIME_CHARS = 13;
/** A device's clock may be ahead by this many milliseconds. */
const CLOCK_SLACK = 60_000;

export class Events {
  readonly #sql: Sql;
  readonly #kv: Kv;
  readonly #health: Pick<StorageHealth, "isFailing" | "requireWritable">;
  #known: Known | undefined;

  constructor(
    { sql, kv }: Pick<Storage, "sql" | "kv">,
    health: Pick<StorageHealth, "isFailing" | "requireWritable">,
  ) {
    this.#sql = sql;
    this.#kv = kv;
    this.#health = health;
  }

  /** Number of open conditions. */
  get open(): number {
    return this.#state().open;
  }

  /** The sequence number of the newest event; 0 if there is none. */
  get end(): number {
    return this.#state().end;
  }

  /** Whether the number of dropped events has yet to be stored. */
  get isUnsaved(): boolean {
    return this.#known !== undefined && this.#known.dropped !== this.#known.droppedKept;
  }

  /**
   * Stores an event, idempotently. Throws MatrxError: `PAYLOAD_TOO_LARGE`, `UNAVAILABLE` if it cannot be written, or
   * `RATE_LIMITED` for the first one dropped.
   */
  keep(event: DeviceEvent, now: number): Kept {
    const data = JSON.stringify(event.data ?? {});
    if (isLongerThan(data, LIMITS.eventDataBytes)) throw tooLarge();
    const known = this.#state();
    if (event.id !== undefined && this.#find(event.id) !== undefined) return false;
    const before = this.#latestOf(event);
    const ends = event.resolved === true && before?.open === 1;
    const takenUntil = this.#takenAt(now) + TIMES.eventEvery;
    if (!ends && takenUntil - now > LIMITS.eventBurst * TIMES.eventEvery) return this.#drop(known);
    this.#health.requireWritable();
    const opens = event.key !== undefined && !event.resolved && !isLate(event, before);
    if (before?.open && (ends || opens))
      this.#sql.exec("UPDATE events SET open = 0 WHERE seq = ?", before.seq);
    this.#makeRoom();
    this.#insert(event, { known, data, opens, takenUntil, now });
    this.#known = undefined;
    const isWorse = !before?.open || severityRank(event.severity) > severityRank(before.severity);
    return opens && isWorse ? "opened" : "kept";
  }

  /** The newest `limit` events, or the first `limit` after a given one; newest last. */
  list(after: string | undefined, limit: number): EventView[] {
    this.#state();
    const rows =
      after === undefined
        ? this.#sql
            .exec<EventRow>("SELECT * FROM events ORDER BY seq DESC LIMIT ?", limit)
            .toArray()
            .reverse()
        : this.#after(this.seqOf(after), limit);
    return rows.map(viewOf);
  }

  /** Number of events dropped since the newest one. */
  get dropped(): number {
    return this.#state().dropped;
  }

  /** The sequence number of an event; 0, before all others, if it is no longer stored. */
  seqOf(id: string): number {
    this.#state();
    return this.#find(id) ?? 0;
  }

  /** The events after a sequence number. */
  since(seq: number): NumberedEvent[] {
    if (seq >= this.end) return [];
    return this.#after(seq, LIMITS.eventsKept).map((row) => ({ seq: row.seq, event: viewOf(row) }));
  }

  /** Stores how many were dropped. */
  flush(): void {
    if (!this.#known || !this.isUnsaved || this.#health.isFailing) return;
    this.#known.droppedKept = this.#known.dropped;
    this.#kv.put(DROPPED, this.#known.dropped);
  }

  destroy(): void {
    this.#known = undefined;
  }

  #state(): Known {
    this.#known ??= this.#readState();
    return this.#known;
  }

  #readState(): Known {
    const { end, open } = this.#sql
      .exec<{ end: number; open: number }>(
        "SELECT ifnull(max(seq), 0) AS end, total(open) AS open FROM events",
      )
      .one();
    const dropped = this.#kv.get<number>(DROPPED) ?? 0;
    return { end, open, dropped, droppedKept: dropped };
  }

  /**
   * Until when the events so far use up the rate: each takes ten seconds, and a burst may run ahead by its length. A clock
   * that was set back must not cause a wait.
   */
  #takenAt(now: number): number {
    const [newest] = this.#sql.exec<Pick<EventRow, "received" | "taken_until">>(
      "SELECT received, taken_until FROM events ORDER BY seq DESC LIMIT 1",
    );
    return newest && newest.received <= now ? Math.max(newest.taken_until, now) : now;
  }

  #find(id: string): number | undefined {
    const [row] = this.#sql.exec<Pick<EventRow, "seq">>("SELECT seq FROM events WHERE id = ?", id);
    return row?.seq;
  }

  /** The open event of the same condition, else its newest. */
  #latestOf({ event_type, key }: DeviceEvent): EventRow | undefined {
    if (key === undefined) return undefined;
    const [row] = this.#sql.exec<EventRow>(
      `SELECT * FROM events WHERE event_type = ? AND key = ?
       ORDER BY open DESC, substr(id, 1, ${TIME_CHARS}) DESC, seq DESC LIMIT 1`,
      ...[event_type, key],
    );
    return row;
  }

  #after(seq: number, limit: number): EventRow[] {
    return this.#sql
      .exec<EventRow>("SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT ?", seq, limit)
      .toArray();
  }

  #drop(known: Known): false {
    known.dropped++;
    if (known.dropped === 1) throw tooMany();
    return false;
  }

  #makeRoom(): void {
    this.#sql.exec(
      `DELETE FROM events WHERE (SELECT count(*) FROM events) >= ${LIMITS.eventsKept}
       AND seq = (SELECT seq FROM events ORDER BY open, seq LIMIT 1)`,
    );
  }

  #insert(
    { id, event_type, key, severity, resolved, timestamp }: DeviceEvent,
    { known, data, opens, takenUntil, now }: Placement,
  ): void {
    this.#sql.exec(
      `INSERT INTO events
       (seq, id, event_type, key, severity, data, resolved, open, timestamp, received, taken_until, dropped)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      // The newest row may just have been deleted to make room: its number must not be reused.
      ...[known.end + 1, id ?? makeEventId(now), event_type, key ?? null, severity ?? null, data],
      ...[Number(resolved ?? false), Number(opens), timestamp ?? null, now, takenUntil, known.dropped],
    );
    if (known.dropped > 0) this.#kv.delete(DROPPED);
  }
}

/**
 * Whether a dropped event of a condition is sent again although a newer one was stored, which then stands. A newer one
 * from the future does not count: the device's clock was wrong and has been set.
 */
function isLate({ id }: DeviceEvent, newest: EventRow | undefined): boolean {
  if (id === undefined || newest === undefined) return false;
  const time = timeOf(newest.id);
  return timeOf(id) < time && time < newest.received + CLOCK_SLACK;
}

/** The time of a UUIDv7, in milliseconds since 1970. */
function timeOf(id: string): number {
  return Number.parseInt(id.slice(0, TIME_CHARS).replace("-", ""), 16);
}

function viewOf({ seq: _, taken_until: __, data, resolved, open, received, ...row }: EventRow): EventView {
  return {
    ...row,
    data: JSON.parse(data) as EventView["data"],
    resolved: resolved === 1,
    open: open === 1,
    received: new Date(received).toISOString(),
  };
}

function tooLarge(): MatrxError {
  return relayError("PAYLOAD_TOO_LARGE", `The event's data is larger than ${LIMITS.eventDataBytes} bytes`, {
    hint: "Send only the key facts, and let a tool read the rest",
    details: { limit_bytes: LIMITS.eventDataBytes },
  });
}

function tooMany(): MatrxError {
  return relayError(
    "RATE_LIMITED",
    `More than ${LIMITS.eventBurst} events at once, or more than one every ${TIMES.eventEvery / 1000} seconds after that`,
    { hint: "This one, and any that follow too soon, are dropped and counted" },
  );
}
