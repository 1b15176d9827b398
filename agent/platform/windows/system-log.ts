/** Where Windows keeps its log, and how to read its last lines. */
import type { LogSource } from "../system-log.ts";
import { powershellArguments, systemPowershell } from "./powershell.ts";

/** The event log named System, newest first there, so turned round. Written from documents, not run. */
export function windowsLog(env: NodeJS.ProcessEnv): readonly LogSource[] {
  const root = env.SystemRoot ?? "C:\\Windows";
  return [
    {
      by: "program",
      place: `${root}\\System32\\winevt\\Logs`,
      file: systemPowershell(env),
      argumentsFor: (lines) => powershellArguments(eventScript(lines)),
    },
  ];
}

function eventScript(lines: number): string {
  return [
    "[Console]::OutputEncoding = [Text.UTF8Encoding]::new($false)",
    `$events = @(Get-WinEvent -LogName System -MaxEvents ${lines})`,
    "[array]::Reverse($events)",
    "$events | ForEach-Object { '{0:o} {1} {2}: {3}' -f $_.TimeCreated, $_.ProviderName, $_.LevelDisplayName, ($_.Message -replace '\\s+', ' ') }",
  ].join("\n");
}
