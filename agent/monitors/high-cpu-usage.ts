/** `high_cpu_usage`: the processors are busy for minutes on end (device document: over 90 % for 5 minutes). */
import type { EventData } from "../events/report.ts";
import { Conditions, type MonitorParts } from "./condition.ts";
import type { BusyProcess, ProcessorLoad } from "./processor-load.ts";
import { type Repeated, repeat } from "./repeat.ts";

export interface HighCpuUsageSettings {
  readonly percentage: number;
  readonly minutes: number;
  readonly every_seconds: number;
}

/** It is over once the load stays this many percentage points under the limit ... */
const HYSTERESIS = 10;
/** ... for this long, in milliseconds. */
const CALM_FOR = 60_000;

export interface CpuChange {
  readonly kind: "began" | "over";
  readonly percentage: number;
  /** Since it began; undefined: it began in an earlier run. */
  readonly minutes: number | undefined;
}

export interface CpuLimits {
  readonly percentage: number;
  readonly forMs: number;
  /** Samples further apart, in milliseconds, say nothing of the time between: the machine slept. */
  readonly gapMs: number;
}

/** Interprets the samples over time. `now` is in milliseconds of a monotonic clock. */
export class CpuWatch {
  readonly #limits: CpuLimits;
  #busy: { since: number; sum: number; samples: number } | undefined;
  #calmSince: number | undefined;
  #raised: boolean;
  #lastAt: number | undefined;

  /** `raised`: an earlier run reported that it began, but not that it ended. */
  constructor(limits: CpuLimits, raised = false) {
    this.#limits = limits;
    this.#raised = raised;
  }

  /** Takes the load since the last sample, in percent. */
  look(load: number, now: number): CpuChange | undefined {
    const before = this.#lastAt ?? now;
    this.#lastAt = now;
    if (now - before > this.#limits.gapMs) {
      this.#forgetTimes();
      return undefined;
    }
    return this.#raised ? this.#calm(load, before, now) : this.#alarm(load, before, now);
  }

  #forgetTimes(): void {
    this.#calmSince = undefined;
    if (!this.#raised) this.#busy = undefined;
  }

  #alarm(load: number, before: number, now: number): CpuChange | undefined {
    if (load <= this.#limits.percentage) {
      this.#busy = undefined;
      return undefined;
    }
    this.#busy ??= { since: before, sum: 0, samples: 0 };
    this.#busy.sum += load;
    this.#busy.samples++;
    if (now - this.#busy.since < this.#limits.forMs) return undefined;
    this.#raised = true;
    this.#calmSince = undefined;
    const { since, sum, samples } = this.#busy;
    return { kind: "began", percentage: sum / samples, minutes: (now - since) / 60_000 };
  }

  #calm(load: number, before: number, now: number): CpuChange | undefined {
    if (load > this.#limits.percentage - HYSTERESIS) {
      this.#calmSince = undefined;
      return undefined;
    }
    this.#calmSince ??= before;
    if (now - this.#calmSince < CALM_FOR) return undefined;
    const minutes = this.#busy && (now - this.#busy.since) / 60_000;
    this.#raised = false;
    this.#busy = undefined;
    return { kind: "over", percentage: load, minutes };
  }
}

const KEY = "cpu";

export interface CpuParts extends MonitorParts {
  readonly load: ProcessorLoad;
  readonly busiest: (signal: AbortSignal) => Promise<BusyProcess[]>;
}

export function watchCpu(settings: HighCpuUsageSettings, parts: CpuParts): Repeated {
  const everyMs = settings.every_seconds * 1000;
  const limits = { percentage: settings.percentage, forMs: settings.minutes * 60_000, gapMs: 3 * everyMs };
  const left = parts.openKeys("high_cpu_usage");
  const watch = new CpuWatch(limits, left.length > 0);
  const conditions = new Conditions("high_cpu_usage", parts.emit, left);
  return repeat({
    async look(signal) {
      const load = parts.load.since();
      const change = load === undefined ? undefined : watch.look(load, performance.now());
      if (change) await report(change, conditions, parts, signal);
      return everyMs;
    },
    againMs: everyMs,
    onEnd: (failure) => parts.onLook("high_cpu_usage", failure),
  });
}

async function report(change: CpuChange, conditions: Conditions, parts: CpuParts, signal: AbortSignal) {
  const data = dataOf(change);
  if (change.kind === "over") return conditions.clear(KEY, data);
  // Report the load even if the processes cannot be listed.
  const processes = await parts.busiest(signal).catch(() => undefined);
  conditions.raise(KEY, "warning", { ...data, ...(processes && { processes }) });
}

function dataOf({ percentage, minutes }: CpuChange): EventData {
  return { percentage: rounded(percentage), ...(minutes !== undefined && { minutes: rounded(minutes) }) };
}

/** Rounds to one decimal place. */
function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
