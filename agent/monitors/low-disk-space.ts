/** `low_disk_space`: a drive has less free than the limit (device document: 10 %). */
import type { EventData } from "../events/report.ts";
import type { DriveReading, DriveUse, DriveUses } from "../platform/drive-uses.ts";
import { Conditions, keyOf, type MonitorParts } from "./condition.ts";
import { type Repeated, repeat } from "./repeat.ts";

export interface LowDiskSpaceSettings {
  readonly percentage_free: number;
  readonly every_seconds: number;
}

/** It is over once this many percentage points more are free: a drive at the limit must not come and go. */
const HYSTERESIS = 2;
/** Less than this, in percent, is critical; the document's example, 1.0 %, is a warning. */
const CRITICAL_BELOW = 1;

const GiB = 1024 ** 3;

/** Interprets readings, independent of clock and file system. */
export class DiskWatch {
  readonly #conditions: Conditions;
  readonly #limit: number;

  constructor(conditions: Conditions, limit: number) {
    this.#conditions = conditions;
    this.#limit = limit;
  }

  look({ uses, silent }: DriveReading): void {
    for (const use of uses) this.#judge(use);
    const there = new Set([...uses.map(({ drive }) => drive), ...silent].map(keyOf));
    for (const key of this.#conditions.open) {
      if (!there.has(key)) this.#conditions.clear(key, { drive: key, gone: true });
    }
  }

  #judge(use: DriveUse): void {
    const percentage = (use.freeBytes / use.totalBytes) * 100;
    const key = keyOf(use.drive);
    if (percentage < this.#limit) {
      this.#conditions.raise(key, percentage < CRITICAL_BELOW ? "critical" : "warning", dataOf(use));
    } else if (percentage >= this.#limit + HYSTERESIS) this.#conditions.clear(key, dataOf(use));
  }
}

export function watchDisks(
  uses: DriveUses,
  { percentage_free, every_seconds }: LowDiskSpaceSettings,
  parts: MonitorParts,
): Repeated {
  const conditions = new Conditions("low_disk_space", parts.emit, parts.openKeys("low_disk_space"));
  const watch = new DiskWatch(conditions, percentage_free);
  const everyMs = every_seconds * 1000;
  return repeat({
    async look() {
      watch.look(await uses.read());
      return everyMs;
    },
    againMs: everyMs,
    onEnd: (failure) => parts.onLook("low_disk_space", failure),
  });
}

/** As in the device document; GB are those of 1024³ bytes, as in the registration. */
function dataOf({ drive, freeBytes, totalBytes }: DriveUse): EventData {
  return {
    drive,
    free_gb: rounded(freeBytes / GiB),
    total_gb: rounded(totalBytes / GiB),
    percentage_free: rounded((freeBytes / totalBytes) * 100),
  };
}

/** One place after the point; for less than one, three. */
function rounded(value: number): number {
  const places = value < 1 ? 1000 : 10;
  return Math.round(value * places) / places;
}
