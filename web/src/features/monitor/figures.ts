/** What is worked out from samples. */
import { size } from "../../ui/format.ts";
import type { Interface, Room, Sample } from "./sample.ts";

export const percent = (value: number) => `${Math.round(value)} %`;
/** Of bytes per second. */
export const rate = (value: number) => `${size(Math.round(value))}/s`;

/** Used memory, in percent; undefined: not known. */
export function memoryOf({ memory }: Sample): number | undefined {
  const part = partOf(memory);
  return part === undefined ? undefined : part * 100;
}

/** From 0 to 1; undefined: not known. */
export function partOf({ used, total }: Room): number | undefined {
  if (used === undefined || !total) return undefined;
  return Math.min(Math.max(used / total, 0), 1);
}

/** In bytes per second, over all interfaces that lead out of the machine. */
export function received({ network }: Sample): number {
  return sumOf(network, (one) => one.received);
}

/** The same that was sent. */
export function sent({ network }: Sample): number {
  return sumOf(network, (one) => one.sent);
}

/** What is drawn at a time; undefined: nothing, for nobody watched just before what follows. */
export interface Point {
  readonly at: number;
  readonly sample: Sample | undefined;
}

/** The points of the last so many milliseconds, the oldest first. */
export function pointsOf(samples: readonly Sample[], rangeMs: number): readonly Point[] {
  const since = (samples.at(-1)?.at ?? 0) - rangeMs;
  const shown = samples.filter(({ at }) => at >= since);
  return shown.flatMap((sample, index) => [
    ...(sample.isFirst && index > 0 ? [{ at: sample.at - 1, sample: undefined }] : []),
    { at: sample.at, sample },
  ]);
}

function sumOf(network: readonly Interface[], of: (one: Interface) => number): number {
  return network.filter((one) => !one.isLoopback).reduce((sum, one) => sum + of(one), 0);
}
