/** A sample of how loaded the machine is: what two readings of its counters say. Independent of clock and system. */
import * as z from "zod";
import type { DriveReading } from "../platform/drive-uses.ts";
import type { NetworkTraffic, ProcessorTime, Reading } from "../platform/meter.ts";

const bytes = z.number().describe("In bytes");
const rate = z.number().describe("In bytes per second");
const percent = z.number().min(0).max(100).nullable();

export const sampleSchema = z.object({
  at: z.iso.datetime(),
  over_ms: z.int().describe("Percentages and rates are those of this time, in milliseconds"),
  cpu: z.object({
    percent: percent.describe("Of all processors together"),
    cores: z.array(percent),
    load: z.array(z.number()).nullable().describe("Over 1, 5 and 15 minutes; null on Windows"),
  }),
  memory: z.object({
    ...{ total_bytes: bytes, used_bytes: bytes, available_bytes: bytes },
    ...{ swap_total_bytes: bytes, swap_used_bytes: bytes },
  }),
  disks: z.array(z.object({ name: z.string(), total_bytes: bytes, used_bytes: bytes, free_bytes: bytes })),
  silent_disks: z.array(z.string()).describe("They do not answer"),
  disk_traffic: z
    .object({
      ...{ read_bytes_per_second: rate, written_bytes_per_second: rate },
      ...{ read_bytes: bytes, written_bytes: bytes },
    })
    .nullable(),
  network: z.array(
    z.object({
      ...{ name: z.string(), loopback: z.boolean() },
      ...{ received_bytes_per_second: rate, sent_bytes_per_second: rate },
      ...{ received_bytes: bytes, sent_bytes: bytes },
    }),
  ),
  more_interfaces: z.int().describe("How many are not listed, for lack of traffic"),
  temperatures: z.array(z.object({ name: z.string(), celsius: z.number() })).nullable(),
  uptime_seconds: z.number(),
});
export type Sample = z.infer<typeof sampleSchema>;

/** What no counter has. */
export interface Surroundings {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Null: the system has none. */
  readonly load: readonly number[] | null;
  readonly uptimeSeconds: number;
  readonly drives: DriveReading;
}

/** A machine with containers has one for each; those with the most traffic are told. */
const MOST_INTERFACES = 64;
const MOST_DISKS = 64;

export function sampleOf(before: Reading, now: Reading, around: Surroundings): Sample {
  const seconds = (now.at - before.at) / 1000;
  const { memory } = now;
  const { uses, silent } = around.drives;
  return {
    at: new Date(around.now).toISOString(),
    over_ms: Math.round(seconds * 1000),
    cpu: { ...processorsOf(before.processors, now.processors), load: around.load && [...around.load] },
    memory: {
      total_bytes: memory.total,
      used_bytes: memory.total - memory.available,
      available_bytes: memory.available,
      swap_total_bytes: memory.swapTotal,
      swap_used_bytes: memory.swapUsed,
    },
    disks: uses.slice(0, MOST_DISKS).map(({ drive, totalBytes, usedBytes, freeBytes }) => {
      return { name: drive, total_bytes: totalBytes, used_bytes: usedBytes, free_bytes: freeBytes };
    }),
    silent_disks: silent.slice(0, MOST_DISKS),
    disk_traffic: now.disks && {
      read_bytes_per_second: perSecond(before.disks?.read, now.disks.read, seconds),
      written_bytes_per_second: perSecond(before.disks?.written, now.disks.written, seconds),
      read_bytes: now.disks.read,
      written_bytes: now.disks.written,
    },
    ...networkOf(before.interfaces, now.interfaces, seconds),
    temperatures: now.temperatures && [...now.temperatures],
    uptime_seconds: around.uptimeSeconds,
  };
}

/** Processors come and go in some virtual machines; then they are not compared. */
function processorsOf(before: readonly ProcessorTime[], now: readonly ProcessorTime[]) {
  const comparable = before.length === now.length;
  const cores = now.map((one, index) => (comparable ? percentOf(before[index], one) : null));
  return { percent: comparable ? percentOf(sumOf(before), sumOf(now)) : null, cores };
}

function sumOf(processors: readonly ProcessorTime[]): ProcessorTime {
  const sum = (field: keyof ProcessorTime) => processors.reduce((time, one) => time + one[field], 0);
  return { busy: sum("busy"), total: sum("total") };
}

function percentOf(before: ProcessorTime | undefined, now: ProcessorTime): number | null {
  const total = now.total - (before?.total ?? now.total);
  if (total <= 0) return null;
  const busy = Math.min(Math.max(now.busy - (before?.busy ?? 0), 0), total);
  return Math.round((busy / total) * 1000) / 10;
}

function networkOf(
  before: readonly NetworkTraffic[],
  now: readonly NetworkTraffic[],
  seconds: number,
): Pick<Sample, "network" | "more_interfaces"> {
  const earlier = new Map(before.map((one) => [one.name, one]));
  const listed = now
    .map((one, order) => ({ one, order }))
    .toSorted((a, b) => b.one.received + b.one.sent - (a.one.received + a.one.sent))
    .slice(0, MOST_INTERFACES)
    // In a list that is drawn again and again, each keeps its place.
    .toSorted((a, b) => a.order - b.order);
  return {
    network: listed.map(({ one: { name, loopback, received, sent } }) => ({
      ...{ name, loopback },
      received_bytes_per_second: perSecond(earlier.get(name)?.received, received, seconds),
      sent_bytes_per_second: perSecond(earlier.get(name)?.sent, sent, seconds),
      ...{ received_bytes: received, sent_bytes: sent },
    })),
    more_interfaces: now.length - listed.length,
  };
}

/** A counter that is new, or began again, says nothing yet. */
function perSecond(before: number | undefined, now: number, seconds: number): number {
  if (before === undefined || now < before || seconds <= 0) return 0;
  return Math.round((now - before) / seconds);
}
