/** What Windows has counted, from its performance counters. Never run: no Windows machine was at hand. */
import { cpus, freemem, totalmem } from "node:os";
import * as z from "zod";
import { AskedProgram } from "../asked-program.ts";
import type { Meter, Reading } from "../meter.ts";
import { processorTimes } from "../processor-times.ts";
import { systemPowershell } from "./powershell.ts";

export function windowsMeter(): Meter {
  const counters = new AskedProgram({
    file: systemPowershell(process.env),
    // Starting it takes longer than all that it is asked.
    args: [
      "-NoLogo",
      "-NoProfile",
      "-NonInteractive",
      "-ExecutionPolicy",
      "Bypass",
      "-NoExit",
      "-Command",
      "-",
    ],
    question: QUESTION,
    isAnswer: (line) => line.startsWith("{"),
    answerWithinMs: 10_000,
    idleMs: 60_000,
  });
  return {
    async read(): Promise<Reading> {
      const counted = parseCounters(await counters.ask());
      const { swapTotal, swapUsed, ...rest } = counted;
      return {
        at: performance.now(),
        processors: processorTimes(cpus()),
        memory: { total: totalmem(), available: freemem(), swapTotal, swapUsed },
        ...rest,
      };
    },
  };
}

/**
 * One line, since the program reads its commands by lines. A thermal zone is told to administrators alone: who may not know
 * is not asked again.
 */
const QUESTION = [
  "$ProgressPreference = 'SilentlyContinue'",
  "[Console]::OutputEncoding = [Text.UTF8Encoding]::new($false)",
  "$disk = try { Get-CimInstance Win32_PerfRawData_PerfDisk_PhysicalDisk -Filter \"Name='_Total'\" -ErrorAction Stop } catch { $null }",
  "$files = try { @(Get-CimInstance Win32_PageFileUsage -ErrorAction Stop) } catch { @() }",
  "$zones = if ($noZones) { @() } else { try { @(Get-CimInstance MSAcpi_ThermalZoneTemperature -Namespace root/wmi -ErrorAction Stop) } catch { $noZones = $true; @() } }",
  "$cards = [Net.NetworkInformation.NetworkInterface]::GetAllNetworkInterfaces() | Where-Object OperationalStatus -eq 'Up'",
  "ConvertTo-Json -Compress -Depth 4 -InputObject @{" +
    "disk = if ($disk) { @{ read = $disk.DiskReadBytesPersec; written = $disk.DiskWriteBytesPersec } } else { $null }; " +
    "page_files = @($files | ForEach-Object { @{ size = $_.AllocatedBaseSize; used = $_.CurrentUsage } }); " +
    "zones = @($zones | ForEach-Object { @{ name = $_.InstanceName; value = $_.CurrentTemperature } }); " +
    "cards = @($cards | ForEach-Object { $sum = $_.GetIPStatistics(); @{ name = $_.Name; " +
    "loopback = ($_.NetworkInterfaceType -eq 'Loopback'); received = $sum.BytesReceived; sent = $sum.BytesSent } }) }",
].join("; ");

/** 64-bit numbers of performance counters come as text from some versions. */
const count = z.coerce.number();
const MiB = 1024 * 1024;
/** Tenths of a kelvin. */
const celsiusOf = (value: number) => Math.round(value - 2731.5) / 10;

const countersSchema = z.object({
  disk: z.object({ read: count, written: count }).nullable(),
  page_files: z.array(z.object({ size: z.number(), used: z.number() })),
  zones: z.array(z.object({ name: z.string(), value: z.number() })),
  cards: z.array(
    z.object({ name: z.string(), loopback: z.boolean(), received: z.number(), sent: z.number() }),
  ),
});

type Counters = Pick<Reading, "disks" | "interfaces" | "temperatures"> &
  Pick<Reading["memory"], "swapTotal" | "swapUsed">;

/** Page files are told in MiB. */
export function parseCounters(text: string): Counters {
  const { disk, page_files, zones, cards } = countersSchema.parse(JSON.parse(text));
  const sum = (field: "size" | "used") => page_files.reduce((bytes, file) => bytes + file[field] * MiB, 0);
  return {
    disks: disk,
    interfaces: cards,
    temperatures:
      zones.length > 0 ? zones.map(({ name, value }) => ({ name, celsius: celsiusOf(value) })) : null,
    ...{ swapTotal: sum("size"), swapUsed: sum("used") },
  };
}
