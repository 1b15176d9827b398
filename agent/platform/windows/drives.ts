/** Written from documents, not run. */
import type { Drive, ListDrives } from "../drives.ts";
import { runProgram } from "../run-program.ts";
import { powershellArguments, systemPowershell } from "./powershell.ts";

/** DriveType 3 is a local disk (Win32_LogicalDisk). */
const SCRIPT = "Get-CimInstance Win32_LogicalDisk -Filter 'DriveType=3' | ForEach-Object { $_.DeviceID }";
/** PowerShell takes long to start: its answer holds this long, in milliseconds. */
const KEPT = 10 * 60_000;

let kept: { drives: Drive[]; at: number } | undefined;

export const windowsDrives: ListDrives = async () => {
  if (kept && performance.now() - kept.at < KEPT) return kept.drives;
  const { stdout } = await runProgram(systemPowershell(process.env), powershellArguments(SCRIPT), {
    timeoutMs: 20_000,
  });
  kept = { drives: parseDeviceIds(stdout.toString()), at: performance.now() };
  return kept.drives;
};

export function parseDeviceIds(text: string): Drive[] {
  return text
    .split(/\r?\n/)
    .filter((line) => /^[A-Z]:$/i.test(line))
    .map((name) => ({ name, path: `${name}\\` }));
}
