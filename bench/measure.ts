/** One measurement: a number of calls over one line, so many in flight at a time. */
import { setTimeout as sleep } from "node:timers/promises";
import { cpuNanos } from "./cpu.ts";
import type { Line, Variant } from "./variant.ts";

export interface Shape {
  inFlight: number;
  calls: number;
}

export interface Measurement {
  p50_us: number;
  p99_us: number;
  calls_per_s: number;
  /** CPU time of the relay process for each call; absent where there is no relay. */
  cpu_us?: number;
}

/** The figures of one measurement, and every latency, for percentiles over all rounds. */
export interface Sample extends Measurement {
  latencies: Float64Array;
}

/** Not counted, at the start of every measurement: an object may have slept, and caches are another variant's. */
const SETTLING_CALLS = 20;

/** What the calls leave behind is done after `aftermath` milliseconds; its CPU time counts. */
export async function measure(
  { line, relay, aftermath = 0 }: Omit<Variant, "name">,
  shape: Shape,
): Promise<Sample> {
  await runLanes(line, { inFlight: shape.inFlight, calls: SETTLING_CALLS + shape.inFlight });
  const cpuBefore = relay === undefined ? undefined : cpuNanos(relay);
  const start = performance.now();
  const latencies = await runLanes(line, shape);
  const seconds = (performance.now() - start) / 1000;
  await sleep(aftermath);
  const cpuAfter = relay === undefined ? undefined : cpuNanos(relay);
  latencies.sort();
  return {
    latencies,
    p50_us: quantile(latencies, 0.5),
    p99_us: quantile(latencies, 0.99),
    calls_per_s: shape.calls / seconds,
    ...(cpuBefore !== undefined &&
      cpuAfter !== undefined && { cpu_us: (cpuAfter - cpuBefore) / 1000 / shape.calls }),
  };
}

/** Keeps so many calls in flight until all are answered. Returns how long each took, in microseconds. */
async function runLanes(line: Line, { inFlight, calls }: Shape): Promise<Float64Array> {
  const latencies = new Float64Array(calls);
  let begun = 0;
  const lane = async () => {
    while (begun < calls) {
      const index = begun++;
      const sent = performance.now();
      await line.call();
      latencies[index] = (performance.now() - sent) * 1000;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return latencies;
}

/** The value below which a share of sorted values lies. */
export function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Makes calls for so many milliseconds: code that is run often gets compiled, and the first calls are the slowest. */
export async function warm(line: Line, milliseconds: number): Promise<void> {
  const end = performance.now() + milliseconds;
  while (performance.now() < end) await runLanes(line, { inFlight: 16, calls: 100 });
}
