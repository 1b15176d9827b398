/** A program and its arguments as a line for a device's shell, so that each argument arrives as it was given. */
import { powershellLiteral } from "../../platform/windows/powershell.ts";

/** `os` as the device tells it. */
export function commandLine(argv: readonly string[], os: string | null): string {
  return os?.startsWith("Windows") ? powershellLine(argv) : posixLine(argv);
}

/** Every word is quoted: a program may be named like a word of the shell's, such as `time`. */
function posixLine(argv: readonly string[]): string {
  return argv.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
}

/**
 * Never run: no Windows machine was at hand. Before 7.3 PowerShell leaves quotes within arguments, empty ones, and
 * backslashes before its own quotes to whoever writes the line (about_Parsing).
 */
function powershellLine([program = "", ...args]: readonly string[]): string {
  const list = args.map(powershellLiteral).join(", ");
  return [
    `$__args = @(${list})`,
    "if ($PSVersionTable.PSVersion -lt [Version]'7.3') {",
    `  $__args = @($__args | ForEach-Object { $_ -replace '(\\\\*)"', '$1$1\\"' -replace '^(.*\\s.*?)(\\\\+)$', '$1$2$2' -replace '^$', '""' })`,
    "}",
    `& ${powershellLiteral(program)} @__args`,
  ].join("\n");
}
