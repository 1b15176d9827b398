/** All processes from the system's own inventory. Never run: no Windows machine was at hand. */
import * as z from "zod";
import type { ProcessFacts, ProcessList } from "../process-list.ts";
import { runProgram } from "../run-program.ts";
import { powershellArguments, systemPowershell } from "./powershell.ts";

/** Processor times are told in 100 nanoseconds. */
const UNITS_PER_SECOND = 10_000_000;

export const windowsProcessList: ProcessList = {
  startedWithinMs: 1000,

  async all() {
    const { stdout } = await runProgram(systemPowershell(process.env), powershellArguments(SCRIPT), {
      timeoutMs: 15_000,
    });
    return parseInventory(stdout.toString());
  },
};

/** Two looks; whose process it is would take a question for each one. */
const SCRIPT = [
  "$ErrorActionPreference = 'Stop'",
  "[Console]::OutputEncoding = [Text.UTF8Encoding]::new($false)",
  "$before = @{}",
  "$clock = [Diagnostics.Stopwatch]::StartNew()",
  "Get-CimInstance Win32_Process | ForEach-Object { $before[$_.ProcessId] = $_.KernelModeTime + $_.UserModeTime }",
  "Start-Sleep -Milliseconds 300",
  "$all = Get-CimInstance Win32_Process",
  "$seconds = $clock.Elapsed.TotalSeconds",
  "$rows = $all | Where-Object CreationDate | ForEach-Object { [pscustomobject]@{",
  "  pid = $_.ProcessId; parent = $_.ParentProcessId; name = $_.Name; command = $_.CommandLine",
  "  memory = $_.WorkingSetSize; started = $_.CreationDate.ToUniversalTime().ToString('o')",
  "  used = $_.KernelModeTime + $_.UserModeTime - $before[$_.ProcessId] } }",
  "ConvertTo-Json -Compress -InputObject @{ seconds = $seconds; rows = @($rows) }",
].join("\n");

const inventorySchema = z.object({
  seconds: z.number().positive(),
  rows: z.array(
    z.object({
      pid: z.number(),
      parent: z.number(),
      name: z.string(),
      command: z.string().nullable(),
      memory: z.number(),
      started: z.string(),
      used: z.number(),
    }),
  ),
});

export function parseInventory(text: string): ProcessFacts[] {
  const { seconds, rows } = inventorySchema.parse(JSON.parse(text));
  return rows.map(({ pid, parent, name, command, memory, started, used }) => ({
    pid,
    parent,
    name,
    command: command ?? name,
    user: null,
    cpuPercent: Math.max(0, Math.round((used / UNITS_PER_SECOND / seconds) * 1000) / 10),
    memoryBytes: memory,
    started: Date.parse(started),
  }));
}
