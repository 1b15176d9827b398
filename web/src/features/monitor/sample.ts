/** A sample of how loaded a machine is, as its tool SystemMetrics tells it; what is not told is left out. */
import { usableBytes } from "../../data/system-info.ts";
import { amount, list, type Named, number, record, text } from "./told.ts";

/** What is shown of each list that a machine tells. */
const MOST = { cores: 1024, load: 3, named: 64 } as const;
/** In degrees: nothing is colder, and no sensor tells more. */
const CELSIUS = { least: -273.15, most: 1000 } as const;

export interface Sample {
  /** When it came, in milliseconds since 1970: the machine's own clock may be wrong, or go backwards. */
  readonly at: number;
  /** Nobody watched just before: lines begin here. */
  readonly isFirst: boolean;
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
export function sampleOf(told: unknown, when: Pick<Sample, "at" | "isFirst">): Sample | undefined {
  const sample = record(told);
  if (Number.isNaN(Date.parse(text(sample.at) ?? ""))) return undefined;
  const cpu = record(sample.cpu);
  const memory = record(sample.memory);
  const traffic = record(sample.disk_traffic);
  const read = amount(traffic.read_bytes_per_second);
  const written = amount(traffic.written_bytes_per_second);
  return {
    ...when,
    cpu: percentage(cpu.percent),
    cores: list(cpu.cores, MOST.cores).map(percentage),
    load: list(cpu.load, MOST.load).map(amount).filter(isKnown),
    memory: roomOf(memory, ""),
    swap: roomOf(memory, "swap_"),
    disks: named(sample.disks).map((disk) => ({
      name: disk.name,
      used: amount(disk.used_bytes),
      total: amount(usableBytes(disk)),
    })),
    silentDisks: list(sample.silent_disks, MOST.named).map(text).filter(isKnown),
    diskTraffic: read === undefined || written === undefined ? undefined : { read, written },
    network: named(sample.network).map((one) => ({
      name: one.name,
      isLoopback: one.loopback === true,
      received: amount(one.received_bytes_per_second) ?? 0,
      sent: amount(one.sent_bytes_per_second) ?? 0,
    })),
    temperatures: named(sample.temperatures).flatMap(({ name, celsius }) => {
      const known = number(celsius);
      const isPossible = known !== undefined && known >= CELSIUS.least && known <= CELSIUS.most;
      return isPossible ? [{ name, celsius: known }] : [];
    }),
    uptimeSeconds: amount(sample.uptime_seconds),
  };
}

function roomOf(told: Named, kind: "" | "swap_"): Room {
  return { used: amount(told[`${kind}used_bytes`]), total: amount(told[`${kind}total_bytes`]) };
}

/** Those that have a name; one that has the name of an earlier one gets a number. */
function named(told: unknown): (Named & { readonly name: string })[] {
  const taken = new Map<string, number>();
  return list(told, MOST.named).flatMap((one) => {
    const fields = record(one);
    const name = text(fields.name);
    if (name === undefined) return [];
    const count = (taken.get(name) ?? 0) + 1;
    taken.set(name, count);
    return [{ ...fields, name: count === 1 ? name : `${name} (${count})` }];
  });
}

/** Undefined: it is none. Rounding may make it a little more than all. */
function percentage(value: unknown): number | undefined {
  const known = amount(value);
  return known === undefined ? undefined : Math.min(known, 100);
}

function isKnown<T>(value: T | undefined): value is T {
  return value !== undefined;
}
