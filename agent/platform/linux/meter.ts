/** What Linux has counted, from /proc and /sys. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { kept } from "../kept.ts";
import type {
  DiskTraffic,
  MemoryUse,
  Meter,
  NetworkTraffic,
  ProcessorTime,
  Reading,
  Temperature,
} from "../meter.ts";

interface Roots {
  readonly proc: string;
  readonly sys: string;
}

/** A driver may ask the hardware each time; in milliseconds. */
const TEMPERATURES_KEPT = 5000;

export function linuxMeter({ proc, sys }: Roots = { proc: "/proc", sys: "/sys" }): Meter {
  const temperatures = kept(() => temperaturesIn(sys), TEMPERATURES_KEPT);
  return {
    async read(): Promise<Reading> {
      const [stat, memory, network, disks, devices, heat] = await Promise.all([
        textOf(join(proc, "stat")),
        textOf(join(proc, "meminfo")),
        textOf(join(proc, "net/dev")),
        textOf(join(proc, "diskstats")),
        namesIn(join(sys, "block")),
        temperatures(),
      ]);
      return {
        at: performance.now(),
        processors: parseProcessors(stat),
        memory: parseMemory(memory),
        disks: parseDisks(disks, devices),
        interfaces: parseInterfaces(network),
        temperatures: heat,
      };
    },
  };
}

/** Waiting for a disk is not being busy (proc_stat(5)); the time of guests is in that of `user`. */
export function parseProcessors(text: string): ProcessorTime[] {
  return [...text.matchAll(/^cpu\d+ (.*)$/gm)].map(([, line = ""]) => {
    const [user = 0, nice = 0, system = 0, idle = 0, waiting = 0, ...rest] = line.split(" ").map(Number);
    const [irq = 0, softirq = 0, stolen = 0] = rest;
    const busy = user + nice + system + irq + softirq + stolen;
    return { busy, total: busy + idle + waiting };
  });
}

export function parseMemory(text: string): MemoryUse {
  const bytes = (name: string): number | undefined => {
    const [, kib] = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text) ?? [];
    return kib === undefined ? undefined : Number(kib) * 1024;
  };
  const of = (name: string) => bytes(name) ?? 0;
  return {
    total: of("MemTotal"),
    // Kernels before 3.14 do not say it.
    available: bytes("MemAvailable") ?? of("MemFree") + of("Buffers") + of("Cached"),
    swapTotal: of("SwapTotal"),
    swapUsed: of("SwapTotal") - of("SwapFree"),
  };
}

export function parseInterfaces(text: string): NetworkTraffic[] {
  return [...text.matchAll(/^\s*(\S+):\s*(\d.*)$/gm)].map(([, name = "", line = ""]) => {
    const counts = line.split(/\s+/).map(Number);
    return { name, loopback: name === "lo", received: counts[0] ?? 0, sent: counts[8] ?? 0 };
  });
}

/** What lies on other disks, or on none: its traffic would count twice, or is not a disk's. */
const NO_DISK = /^(?:loop|ram|zram|dm-|md|drbd|bcache|sr|fd)\d/;
/** Whatever the disk's own are (Documentation/admin-guide/iostats.rst). */
const SECTOR_BYTES = 512;

/** `devices`: whole disks, as /sys/block names them; partitions are parts of them. */
export function parseDisks(text: string, devices: readonly string[]): DiskTraffic | null {
  const counted = new Set(devices.filter((name) => !NO_DISK.test(name)));
  const rows = text.split("\n").map((line) => line.trim().split(/\s+/));
  const disks = rows.filter(([, , name = ""]) => counted.has(name));
  if (disks.length === 0) return null;
  const sum = (column: number) => disks.reduce((bytes, row) => bytes + Number(row[column]) * SECTOR_BYTES, 0);
  return { read: sum(5), written: sum(9) };
}

const MOST_SENSORS = 32;
/** Sensors that are not connected say something beyond; in degrees Celsius. */
const POSSIBLE = { from: -40, to: 150 };

/** Of the drivers for sensors, else of the thermal zones, which many small boards have alone. */
async function temperaturesIn(sys: string): Promise<Temperature[] | null> {
  const chips = await foldersIn(join(sys, "class/hwmon"), "hwmon");
  const sensors = (await Promise.all(chips.map(sensorsOf))).flat();
  const zones = sensors.length > 0 ? [] : await foldersIn(join(sys, "class/thermal"), "thermal_zone");
  const found = [...sensors, ...(await Promise.all(zones.map(zoneOf)))].filter(
    ({ celsius }) => celsius > POSSIBLE.from && celsius < POSSIBLE.to,
  );
  return found.length > 0 ? found.slice(0, MOST_SENSORS) : null;
}

async function foldersIn(folder: string, prefix: string): Promise<string[]> {
  const names = (await namesIn(folder)).filter((name) => name.startsWith(prefix));
  return names
    .toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .map((name) => join(folder, name));
}

async function sensorsOf(chip: string): Promise<Temperature[]> {
  const name = (await textOf(join(chip, "name"))).trim();
  const inputs = (await namesIn(chip)).filter((file) => /^temp\d+_input$/.test(file)).toSorted();
  return await Promise.all(
    inputs.map(async (file) => {
      const label = (await textOf(join(chip, file.replace("input", "label")))).trim();
      return { name: [name, label].filter(Boolean).join(" "), celsius: await degreesIn(join(chip, file)) };
    }),
  );
}

async function zoneOf(zone: string): Promise<Temperature> {
  return { name: (await textOf(join(zone, "type"))).trim(), celsius: await degreesIn(join(zone, "temp")) };
}

/** NaN if the sensor says nothing now. */
async function degreesIn(file: string): Promise<number> {
  return Number.parseInt(await textOf(file), 10) / 1000;
}

/** Empty: it is not there, or closed to the agent's user. */
async function textOf(file: string): Promise<string> {
  return await readFile(file, "utf8").catch(() => "");
}

async function namesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => []);
}
