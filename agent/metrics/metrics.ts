/** How loaded this machine is: once, or again and again. Who watches at the same interval shares the work. */
import os from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import { type DriveReading, DriveUses } from "../platform/drive-uses.ts";
import { inTime } from "../platform/in-time.ts";
import { kept } from "../platform/kept.ts";
import type { Reading } from "../platform/meter.ts";
import { orAborted } from "../platform/or-aborted.ts";
import type { Platform } from "../platform/platform.ts";
import { Pulse } from "./pulse.ts";
import { type Sample, sampleOf } from "./sample.ts";

/** How old the reading is that one sample is compared with; a younger one says too little. In milliseconds. */
const COMPARED = { least: 250, most: 10_000 } as const;
/** A system that hangs must not keep its callers waiting without end; in milliseconds. */
const LOOK_MS = 10_000;
const LIMIT = { withinMs: LOOK_MS, tookTooLong };
/** Drives fill slowly; in milliseconds. */
const DRIVES_KEPT = 5000;
const DRIVE_ANSWERS_WITHIN = 500;
const DRIVES_WITHIN = 3000;
const NO_DRIVES: DriveReading = { uses: [], silent: [] };

export class Metrics {
  readonly #look: () => Promise<Reading>;
  readonly #hasLoad: boolean;
  readonly #drives: () => Promise<DriveReading>;
  readonly #pulses = new Map<number, Pulse<Reading, Sample>>();
  #last: Reading | undefined;

  constructor({ name, openMeter, drives }: Pick<Platform, "name" | "openMeter" | "drives">) {
    const meter = openMeter();
    this.#look = async () => {
      this.#last = await inTime(() => meter.read(), LIMIT);
      return this.#last;
    };
    this.#hasLoad = name !== "Windows";
    // One of the four threads of the pool at most, besides those of the monitor.
    const uses = new DriveUses({ list: drives, answerWithinMs: DRIVE_ANSWERS_WITHIN, mostHanging: 1 });
    const limit = { ...LIMIT, withinMs: DRIVES_WITHIN };
    // A system that does not list its drives has other figures to tell.
    this.#drives = kept(() => inTime(() => uses.read(), limit).catch(() => NO_DRIVES), DRIVES_KEPT);
  }

  /** A sample of the time since somebody last looked, or of a quarter of a second. Throws MatrxError, or the signal's reason. */
  async now(signal: AbortSignal): Promise<Sample> {
    signal.throwIfAborted();
    const before = this.#recent() ?? (await this.#first(signal));
    return await this.#compare(before, await orAborted(this.#look(), signal));
  }

  /** A sample after each interval, for as long as it is iterated and the signal is not aborted. Throws as `now` does. */
  async *every(everyMs: number, signal: AbortSignal): AsyncGenerator<Sample, void> {
    const pulse =
      this.#pulses.get(everyMs) ??
      new Pulse({ everyMs, look: this.#look, compare: (before, now) => this.#compare(before, now) });
    this.#pulses.set(everyMs, pulse);
    try {
      return yield* pulse.watch(signal);
    } finally {
      if (pulse.isIdle) this.#pulses.delete(everyMs);
    }
  }

  /** How many intervals are being sampled. */
  get running(): number {
    return this.#pulses.size;
  }

  #recent(): Reading | undefined {
    const last = this.#last;
    const age = performance.now() - (last?.at ?? Number.NEGATIVE_INFINITY);
    return age >= COMPARED.least && age <= COMPARED.most ? last : undefined;
  }

  async #first(signal: AbortSignal): Promise<Reading> {
    const first = await orAborted(this.#look(), signal);
    await orAborted(sleep(COMPARED.least), signal);
    return first;
  }

  async #compare(before: Reading, now: Reading): Promise<Sample> {
    return sampleOf(before, now, {
      now: Date.now(),
      load: this.#hasLoad ? os.loadavg() : null,
      uptimeSeconds: Math.round(os.uptime()),
      drives: await this.#drives(),
    });
  }
}

function tookTooLong(): MatrxError {
  return toolError("TOOL_EXECUTION_FAILED", `The system did not tell its figures within ${LOOK_MS} ms`, {
    hint: "Try again; if it happens again, a driver or a drive of the device hangs",
  });
}
