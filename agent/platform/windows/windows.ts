/** The Windows implementation of `Platform`. Written from documents, not run. */
import { hash } from "node:crypto";
import { rename } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { unseenSubjects } from "@matrx/shared/commands/command-subjects.ts";
import { openByIdentity } from "../directory.ts";
import { noMounts } from "../mounts.ts";
import { windowsOtherHomes } from "../other-homes.ts";
import type { Drive, ListDrives, Platform, Shell } from "../platform.ts";
import type { ProcessTable } from "../processes.ts";
import { runProgram } from "../run-program.ts";
import { type MakeSuccessor, successorByCopy } from "../successor.ts";
import { noTerminalProcesses } from "../terminal-processes.ts";
import { windowsDesktop } from "./desktop.ts";
import { windowsMeter } from "./meter.ts";
import { powershellArguments, powershellLiteral, systemPowershell } from "./powershell.ts";
import { windowsProcessList } from "./process-list.ts";
import { windowsSockets } from "./sockets.ts";
import { windowsLog } from "./system-log.ts";
import { windowsTrash } from "./trash.ts";

export const windowsSuccessor: MakeSuccessor = async (folder, old, name) => {
  const icacls = path.win32.join(process.env.SystemRoot ?? "C:\\Windows", "System32", "icacls.exe");
  try {
    const { stdout } = await runProgram(icacls, [folder.at(old.name)], { timeoutMs: 10_000 });
    if (hasOwnRights(stdout.toString("latin1"))) return undefined;
  } catch {
    return undefined;
  }
  return await successorByCopy(folder, old, name);
};

/** What icacls prints: rights that come from the folder have an `(I)`, and a new file in it gets them, too. */
export function hasOwnRights(printed: string): boolean {
  const rights = printed.split(/\r?\n/).flatMap((line) => /:((?:\([A-Z,]+\))+)\s*$/.exec(line)?.[1] ?? []);
  return rights.length === 0 || rights.some((one) => !one.includes("(I)"));
}

const windowsProcesses: ProcessTable = {
  async beginOf(pid) {
    return isAlive(pid) ? "" : undefined;
  },

  async members(root) {
    return isAlive(root.pid) ? [root.pid] : [];
  },

  waitForKeys: () => Promise.resolve(false),
  waitsForPipe: () => Promise.resolve(false),

  /** A console program hears no TERM: without force `taskkill` only asks windows to close. */
  async signal(root, _pids, signal) {
    const force = signal === "SIGKILL" ? ["/F"] : [];
    const args = ["/PID", String(root.pid), "/T", ...force];
    // By its whole path: Windows looks for names in the current folder, too.
    const taskkill = path.win32.join(process.env.SystemRoot ?? "C:\\Windows", "System32", "taskkill.exe");
    await runProgram(taskkill, args, { timeoutMs: 2000 }).catch(() => undefined);
  },
};

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** DriveType 3 is a local disk (Win32_LogicalDisk). */
const SCRIPT = "Get-CimInstance Win32_LogicalDisk -Filter 'DriveType=3' | ForEach-Object { $_.DeviceID }";
/** PowerShell takes long to start: its answer holds this long, in milliseconds. */
const KEPT = 10 * 60_000;

let kept: { drives: Drive[]; at: number } | undefined;

const windowsDrives: ListDrives = async () => {
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

/** Names that are devices in every folder, whatever their extension. */
const DEVICE_NAME = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

export const windows: Platform = {
  name: "Windows",
  path: path.win32,
  fold: (text) => text.toLowerCase(),
  objectionTo(text) {
    if (/^[\\/]{2}[.?][\\/]/.test(text)) return "device paths can't be opened";
    const parts = text.replace(/^[a-z]:/i, "").split(/[\\/]/);
    if (parts.some((part) => part.includes(":")))
      return "it names an alternate stream, or a drive in the middle";
    if (parts.some((part) => DEVICE_NAME.test(part))) return "it names a device";
    if (parts.some((part) => /[^. ][. ]+$/.test(part))) return "a name ends with a dot or a space";
    return undefined;
  },
  notSearched: [],
  kernelView: () => undefined,
  systemPath: windowsSystemPath,
  distribution: async () => os.version(),
  shell: windowsShell,
  openDirectory: openByIdentity,
  makeSuccessor: windowsSuccessor,
  processes: windowsProcesses,
  terminals: noTerminalProcesses,
  drives: windowsDrives,
  systemFolders: systemFolders(process.env),
  otherHomes: windowsOtherHomes,
  mounts: () => noMounts,
  // It never takes the place of anything here.
  renameFolder: rename,
  trash: windowsTrash,
  systemLog: windowsLog(process.env),
  processList: windowsProcessList,
  openMeter: windowsMeter,
  sockets: windowsSockets,
  desktop: windowsDesktop,
  // Libuv lets only this user write to it, and does not share a name that is taken.
  controlEndpoint: (folder, name) =>
    `\\\\.\\pipe\\matrx-${hash("sha256", folder.toLowerCase(), "hex").slice(0, 32)}-${name}`,
};

function systemFolders(env: NodeJS.ProcessEnv): string[] {
  const named = [env.SystemRoot, env.ProgramFiles, env["ProgramFiles(x86)"], env.ProgramData];
  return ["C:\\Windows", "C:\\Program Files", "C:\\Users", ...named.filter((folder) => folder !== undefined)];
}

function windowsSystemPath({ SystemRoot: root = "C:\\Windows" }: NodeJS.ProcessEnv): string {
  return [path.win32.join(root, "System32"), root].join(";");
}

/** PowerShell 7 where it is installed, else the 5.1 of the system. */
function windowsShell(env: NodeJS.ProcessEnv, exists: (path: string) => boolean): Shell {
  const programs = env.ProgramFiles ?? "C:\\Program Files";
  const folders = (env.PATH ?? env.Path ?? "").split(";").filter(Boolean);
  const candidates = [
    path.win32.join(programs, "PowerShell", "7", "pwsh.exe"),
    ...folders.map((folder) => path.win32.join(folder, "pwsh.exe")),
  ];
  const file = candidates.find(exists) ?? systemPowershell(env);
  return {
    file,
    subjects: unseenSubjects,
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
