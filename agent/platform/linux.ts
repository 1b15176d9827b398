import path from "node:path";
import { linuxDesktop } from "./desktop-linux.ts";
import { openByDescriptors } from "./directory-linux.ts";
import { linuxDrives } from "./drives-linux.ts";
import { linuxKernelView } from "./kernel-view-linux.ts";
import { linuxMounts } from "./mounts-linux.ts";
import { linuxOtherHomes } from "./other-homes.ts";
import type { Platform } from "./platform.ts";
import { posixObjection, posixPlaceFolder, posixShell } from "./posix.ts";
import { linuxProcessList } from "./process-list-linux.ts";
import { linuxProcesses } from "./processes-linux.ts";
import { linuxSuccessor } from "./successor-linux.ts";
import { linuxLog } from "./system-log.ts";
import { linuxTrash } from "./trash-linux.ts";

const SYSTEM_FOLDERS =
  "bin boot dev etc home lib lib32 lib64 media mnt opt proc root run sbin srv sys tmp usr var";

export const linux: Platform = {
  name: "Linux",
  path: path.posix,
  fold: (text) => text,
  objectionTo: posixObjection,
  notSearched: ["/proc", "/sys", "/dev"],
  kernelView: linuxKernelView,
  shell: posixShell,
  openDirectory: openByDescriptors,
  makeSuccessor: linuxSuccessor,
  processes: linuxProcesses,
  drives: linuxDrives,
  systemFolders: SYSTEM_FOLDERS.split(" ").map((name) => `/${name}`),
  otherHomes: linuxOtherHomes,
  mounts: linuxMounts,
  placeFolder: posixPlaceFolder,
  trash: linuxTrash,
  systemLog: linuxLog,
  processList: linuxProcessList,
  desktop: linuxDesktop,
};
