import path from "node:path";
import { openByIdentity } from "./directory.ts";
import type { Platform } from "./platform.ts";
import { windowsProcesses } from "./processes-windows.ts";
import { windowsShell } from "./shell-windows.ts";

/** Names that are devices in every folder, whatever their extension. */
const DEVICE_NAME = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

export const windows: Platform = {
  name: "Windows",
  path: path.win32,
  fold: (text) => text.toLowerCase(),
  objectionTo(text) {
    if (/^[\\/]{2}[.?][\\/]/.test(text)) return "device paths are not opened";
    const parts = text.replace(/^[a-z]:/i, "").split(/[\\/]/);
    if (parts.some((part) => part.includes(":")))
      return "it names an alternate stream, or a drive in the middle";
    if (parts.some((part) => DEVICE_NAME.test(part))) return "it names a device";
    if (parts.some((part) => /[^. ][. ]+$/.test(part))) return "a name ends with a dot or a space";
    return undefined;
  },
  isProcessInside: () => false,
  shell: windowsShell,
  openDirectory: openByIdentity,
  processes: windowsProcesses,
};
