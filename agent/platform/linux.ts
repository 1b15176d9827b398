import path from "node:path";
import { linuxDesktop } from "./desktop-linux.ts";
import { openByDescriptors } from "./directory-linux.ts";
import { linuxDrives } from "./drives-linux.ts";
import { linuxMountPoints } from "./mounts-linux.ts";
import type { Platform } from "./platform.ts";
import { posixObjection, posixPlaceFolder, posixShell } from "./posix.ts";
import { linuxProcessList } from "./process-list-linux.ts";
import { linuxProcesses } from "./processes-linux.ts";
import { linuxSuccessor } from "./successor-linux.ts";
import { linuxLog } from "./system-log.ts";
import { linuxTrash } from "./trash-linux.ts";

const SYSTEM_FOLDERS =
  "bin boot dev etc home lib lib32 lib64 media mnt opt proc root run sbin srv sys tmp usr var";

const PROCESS_INSIDE =
  /^\/proc\/\d+(?:\/task\/\d+)?\/(?:environ|auxv|mem|maps|smaps|map_files|fd|fdinfo|stack)(?:\/|$)/;

export const linux: Platform = {
  name: "Linux",
  path: path.posix,
  fold: (text) => text,
  objectionTo: posixObjection,
  notSearched: ["/proc", "/sys", "/dev"],
  isProcessInside(canonical) {
    const own = `/proc/${process.pid}`;
    return canonical === own || canonical.startsWith(`${own}/`) || PROCESS_INSIDE.test(canonical);
  },
  shell: posixShell,
  openDirectory: openByDescriptors,
  makeSuccessor: linuxSuccessor,
  processes: linuxProcesses,
  drives: linuxDrives,
  systemFolders: SYSTEM_FOLDERS.split(" ").map((name) => `/${name}`),
  mountPoints: linuxMountPoints,
  placeFolder: posixPlaceFolder,
  trash: linuxTrash,
  systemLog: linuxLog,
  processList: linuxProcessList,
  desktop: linuxDesktop,
};
