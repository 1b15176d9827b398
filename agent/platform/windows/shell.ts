/** PowerShell for jobs. Never run: no Windows machine was at hand. */
import path from "node:path";
import type { Shell } from "../shell.ts";
import { powershellArguments, powershellLiteral, systemPowershell } from "./powershell.ts";

/** PowerShell 7 where it is installed, else the 5.1 of the system. */
export function windowsShell(env: NodeJS.ProcessEnv, exists: (path: string) => boolean): Shell {
  const programs = env.ProgramFiles ?? "C:\\Program Files";
  const folders = (env.PATH ?? env.Path ?? "").split(";").filter(Boolean);
  const candidates = [
    path.win32.join(programs, "PowerShell", "7", "pwsh.exe"),
    ...folders.map((folder) => path.win32.join(folder, "pwsh.exe")),
  ];
  const file = candidates.find(exists) ?? systemPowershell(env);
  return {
    file,
    argumentsFor: (directory) => powershellArguments(script(directory)),
    logsItself: false,
  };
}

function script(directory: string): string {
  return [
    "$ProgressPreference = 'SilentlyContinue'",
    "[Console]::OutputEncoding = [Text.UTF8Encoding]::new($false)",
    `$__job = ${powershellLiteral(directory)}`,
    "$__rc = 1",
    "try {",
    "  $global:LASTEXITCODE = 0",
    "  . ([ScriptBlock]::Create([IO.File]::ReadAllText((Join-Path $__job 'command'))))",
    "  $__rc = if ($?) { $global:LASTEXITCODE } elseif ($global:LASTEXITCODE) { $global:LASTEXITCODE } else { 1 }",
    "} catch { [Console]::Error.WriteLine($_) } finally {",
    "  [IO.File]::WriteAllText((Join-Path $__job 'cwd'), (Get-Location -PSProvider FileSystem).ProviderPath)",
    "  [IO.File]::WriteAllText((Join-Path $__job 'rc'), \"$__rc`n\")",
    "}",
    "exit $__rc",
  ].join("\n");
}
