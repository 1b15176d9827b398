/** The clipboard of Windows, by PowerShell. Never run: no Windows machine was at hand. */
import type { ClipboardPrograms } from "../platform.ts";
import { powershellArguments, systemPowershell } from "./powershell.ts";

const READ = [
  "$ProgressPreference = 'SilentlyContinue'",
  "$ErrorActionPreference = 'Stop'",
  "[Console]::OutputEncoding = [Text.UTF8Encoding]::new($false)",
  "[Console]::Out.Write([string](Get-Clipboard -Raw))",
].join("\n");

/**
 * PowerShell reads stdin itself, into $input, before a script can choose the encoding, and takes the lines apart: so the
 * text comes as base64 of its UTF-8.
 */
const WRITE = [
  "$ProgressPreference = 'SilentlyContinue'",
  "$ErrorActionPreference = 'Stop'",
  "$sent = @($input) -join ''",
  "if (-not $sent) { $sent = [Console]::In.ReadToEnd() }",
  "Set-Clipboard -Value ([Text.Encoding]::UTF8.GetString([Convert]::FromBase64String($sent)))",
].join("\n");

export function windowsClipboard(env: NodeJS.ProcessEnv): ClipboardPrograms {
  const program = systemPowershell(env);
  return {
    reader: { program, args: powershellArguments(READ) },
    writer: {
      program,
      args: powershellArguments(WRITE),
      serves: false,
      stdinFor: (text) => Buffer.from(text, "utf8").toString("base64"),
    },
  };
}
