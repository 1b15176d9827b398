import { rename } from "node:fs/promises";
import path from "node:path";
import { openByIdentity } from "../directory.ts";
import { noMounts } from "../mounts.ts";
import { windowsOtherHomes } from "../other-homes.ts";
import type { Platform } from "../platform.ts";
import { windowsSuccessor } from "../successor-windows.ts";
import { windowsLog } from "../system-log.ts";
import { windowsDesktop } from "./desktop.ts";
import { windowsDrives } from "./drives.ts";
import { windowsProcessList } from "./process-list.ts";
import { windowsProcesses } from "./processes.ts";
import { windowsShell } from "./shell.ts";
import { windowsTrash } from "./trash.ts";

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
  shell: windowsShell,
  openDirectory: openByIdentity,
  makeSuccessor: windowsSuccessor,
  processes: windowsProcesses,
  drives: windowsDrives,
  systemFolders: systemFolders(process.env),
  otherHomes: windowsOtherHomes,
  mounts: () => noMounts,
  // It never takes the place of anything here.
  placeFolder: rename,
  trash: windowsTrash,
  systemLog: windowsLog(process.env),
  processList: windowsProcessList,
  desktop: windowsDesktop,
};

function systemFolders(env: NodeJS.ProcessEnv): string[] {
  const named = [env.SystemRoot, env.ProgramFiles, env["ProgramFiles(x86)"], env.ProgramData];
  return ["C:\\Windows", "C:\\Program Files", "C:\\Users", ...named.filter((folder) => folder !== undefined)];
}
