/** What macOS has counted. Written from documents, not run. */
import { cpus } from "node:os";
import type { Meter, NetworkTraffic, Reading } from "../meter.ts";
import { processorTimes } from "../processor-times.ts";
import { runProgram } from "../run-program.ts";

/** What is used of `systeminformation`; it tells no temperatures here without a native module. */
export interface Library {
  mem(): Promise<{ total: number; available: number; swaptotal: number; swapused: number }>;
  /** Bytes of all disks so far; null where there are none. */
  fsStats(): Promise<{ rx: number; wx: number } | null>;
}

interface Parts {
  readonly library: () => Promise<Library>;
  /** What `netstat -ibn` prints: one program for all interfaces, where the library starts three for each. */
  readonly netstat: () => Promise<string>;
}

export function darwinMeter(
  { library, netstat }: Parts = { library: loadLibrary, netstat: runNetstat },
): Meter {
  return {
    async read(): Promise<Reading> {
      const system = await library();
      const [memory, disks, printed] = await Promise.all([
        system.mem(),
        system.fsStats(),
        netstat().catch(() => ""),
      ]);
      return {
        at: performance.now(),
        processors: processorTimes(cpus()),
        memory: {
          ...{ total: memory.total, available: memory.available },
          ...{ swapTotal: memory.swaptotal, swapUsed: memory.swapused },
        },
        disks: disks && { read: disks.rx, written: disks.wx },
        interfaces: parseNetstat(printed),
        temperatures: null,
      };
    },
  };
}

/** Loaded lazily, and on macOS alone: where it is loaded it may start programs. */
export async function loadLibrary(): Promise<Library> {
  return (await import("systeminformation")).default;
}

async function runNetstat(): Promise<string> {
  const { stdout } = await runProgram("/usr/sbin/netstat", ["-ibn"], { timeoutMs: 5000 });
  return stdout.toString();
}

/**
 * The line of each interface's link, by its last columns: `Ibytes Opkts Oerrs Obytes Coll`. It has no address for some.
 * An asterisk marks those that are down.
 */
export function parseNetstat(text: string): NetworkTraffic[] {
  return text.split("\n").flatMap((line) => {
    const columns = line.trim().split(/\s+/);
    if (!columns[2]?.startsWith("<Link#")) return [];
    const name = columns[0]?.replace("*", "") ?? "";
    const [received, sent] = [Number(columns.at(-5)), Number(columns.at(-2))];
    return Number.isFinite(received + sent) ? [{ name, loopback: /^lo\d/.test(name), received, sent }] : [];
  });
}
