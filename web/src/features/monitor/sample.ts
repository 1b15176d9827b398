/** A sample of how loaded a machine is, as its tool SystemMetrics tells it; what is not told is left out. */
import { list, type Named, number, record, text } from "./told.ts";

export interface Sample {
  /** Milliseconds since 1970, by the machine's clock. */
  readonly at: number;
  /** Of all processors together, 0 to 100. */
  readonly cpu: number | undefined;
  readonly cores: readonly (number | undefined)[];
  /** Over 1, 5 and 15 minutes. */
  readonly load: readonly number[];
  /** In bytes. */
  readonly memory: Room;
  readonly swap: Room;
  readonly disks: readonly (Room & { readonly name: string })[];
  /** Names of disks that do not answer. */
  readonly silentDisks: readonly string[];
  /** In bytes per second. */
  readonly diskTraffic: { readonly read: number; readonly written: number } | undefined;
  readonly network: readonly Interface[];
  readonly temperatures: readonly { readonly name: string; readonly celsius: number }[];
  readonly uptimeSeconds: number | undefined;
}

export interface Room {
  readonly used: number | undefined;
  readonly total: number | undefined;
}

export interface Interface {
  readonly name: string;
  /** It leads nowhere but back. */
  readonly isLoopback: boolean;
  /** In bytes per second. */
  readonly received: number;
  readonly sent: number;
}

/** Undefined: it is none. */
export function sampleOf(told: unknown): Sample | undefined {
  const sample = record(told);
  const at = Date.parse(text(sample.at) ?? "");
  if (Number.isNaN(at)) return undefined;
  const cpu = record(sample.cpu);
  const memory = record(sample.memory);
  const traffic = record(sample.disk_traffic);
  const read = number(traffic.read_bytes_per_second);
  const written = number(traffic.written_bytes_per_second);
  return {
    at,
    cpu: number(cpu.percent),
    cores: list(cpu.cores).map(number),
    load: list(cpu.load).map(number).filter(isKnown),
    memory: roomOf(memory, ""),
    swap: roomOf(memory, "swap_"),
    disks: named(sample.disks).map((disk) => ({ name: disk.name, ...roomOf(disk, "") })),
    silentDisks: list(sample.silent_disks).map(text).filter(isKnown),
    diskTraffic: read === undefined || written === undefined ? undefined : { read, written },
    network: named(sample.network).map((one) => ({
      name: one.name,
      isLoopback: one.loopback === true,
      received: number(one.received_bytes_per_second) ?? 0,
      sent: number(one.sent_bytes_per_second) ?? 0,
    })),
    temperatures: named(sample.temperatures).flatMap(({ name, celsius }) => {
      const known = number(celsius);
      return known === undefined ? [] : [{ name, celsius: known }];
    }),
    uptimeSeconds: number(sample.uptime_seconds),
  };
}

function roomOf(told: Named, kind: "" | "swap_"): Room {
  return { used: number(told[`${kind}used_bytes`]), total: number(told[`${kind}total_bytes`]) };
}

function named(told: unknown): (Named & { readonly name: string })[] {
  return list(told).flatMap((one) => {
    const fields = record(one);
    const name = text(fields.name);
    return name === undefined ? [] : [{ ...fields, name }];
  });
}

function isKnown<T>(value: T | undefined): value is T {
  return value !== undefined;
}
