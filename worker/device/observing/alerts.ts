/**
 * Events that warn: the account is told when a condition begins or gets worse, so that it can notify people. One that comes
 * and goes is told once in a while; what was told of late is stored, since an idle object sleeps.
 */
import { type DeviceEvent, severityRank } from "@matrx/shared/events.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import type { Alert } from "../../push/news.ts";
import type { Kv } from "../../storage/watched.ts";
import type { Kept } from "../event-log.ts";

/** When a condition was told, in milliseconds since 1970, and how bad it was. */
interface Told {
  readonly at: number;
  readonly rank: number;
}

const KEY = "alerts";
/** So many conditions are remembered; of more, the earliest is forgotten. */
const TOLD_MAX = 100;

export class Alerts {
  readonly #kv: Kv;
  readonly #tell: (alert: Alert, now: number) => void;

  constructor(kv: Kv, tell: (alert: Alert, now: number) => void) {
    this.#kv = kv;
    this.#tell = tell;
  }

  /** An event was stored. One without a key, as of a bare device, tells of no condition that could go on. */
  note({ event_type, key: about, severity, resolved }: DeviceEvent, kept: Kept, now: number): void {
    const key = about ?? null;
    if (resolved || (severity !== "warning" && severity !== "critical")) return;
    if (key !== null && kept !== "opened") return;
    const told = this.#recent(now);
    const condition = JSON.stringify([event_type, key]);
    const rank = severityRank(severity);
    if ((told.get(condition)?.rank ?? -1) >= rank) return;
    told.delete(condition);
    told.set(condition, { at: now, rank });
    this.#kv.put(KEY, [...told].slice(-TOLD_MAX));
    this.#tell({ event_type, key, severity, at: now }, now);
  }

  /** By condition, the earliest first. */
  #recent(now: number): Map<string, Told> {
    const known = this.#kv.get<[string, Told][]>(KEY) ?? [];
    return new Map(known.filter(([, { at }]) => at <= now && at > now - TIMES.alertAgain));
  }
}
