/** What Windows has counted, from its performance counters. Never run: no Windows machine was at hand. */
import { cpus, freemem, totalmem } from "node:os";
import * as z from "zod";
import { AskedProgram } from "../asked-program.ts";
import type { Meter, Reading } from "../meter.ts";
import { processorTimes } from "../processor-times.ts";
import { systemPowershell } from "./powershell.ts";

/** While its counters are closed, as to a restricted PowerShell, they are asked for no more often; in milliseconds. */
const ASK_AGAIN_AFTER = 60_000;

/** `ask`: answers `QUESTION`. What its counters do not tell is not known; processors and memory always are. */
export function windowsMeter(ask: () => Promise<string> = askPowershell()): Meter {
  let silentUntil = Number.NEGATIVE_INFINITY;
  const counters = async (): Promise<Counters> => {
    if (performance.now() < silentUntil) return NONE;
    try {
      return parseCounters(await ask());
    } catch {
      silentUntil = performance.now() + ASK_AGAIN_AFTER;
      return NONE;
    }
  };
  return {
    async read(): Promise<Reading> {
      const { swapTotal, swapUsed, ...counted } = await counters();
      return {
        at: performance.now(),
        processors: processorTimes(cpus()),
        memory: { total: totalmem(), available: freemem(), swapTotal, swapUsed },
        ...counted,
      };
    },
  };
}

/** Starting it takes longer than all that it is asked, so it keeps running while somebody watches. */
function askPowershell(): () => Promise<string> {
  const program = new AskedProgram({
    file: systemPowershell(process.env),
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
    ...{ answerWithinMs: 8000, idleMs: 60_000 },
  });
  return () => program.ask();
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
    "page_files = @(foreach ($file in $files) { @{ size = $file.AllocatedBaseSize; used = $file.CurrentUsage } }); " +
    "zones = @(foreach ($zone in $zones) { @{ name = $zone.InstanceName; value = $zone.CurrentTemperature } }); " +
    "cards = @(foreach ($card in $cards) { $sum = $card.GetIPStatistics(); @{ name = $card.Name; " +
    "loopback = ($card.NetworkInterfaceType -eq 'Loopback'); received = $sum.BytesReceived; sent = $sum.BytesSent } }) }",
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

const NONE: Counters = { disks: null, interfaces: [], temperatures: null, swapTotal: 0, swapUsed: 0 };

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
