import path from "node:path";
import { linuxKernelView } from "../kernel-view-linux.ts";
import { linuxOtherHomes } from "../other-homes.ts";
import type { Platform } from "../platform.ts";
import { posixObjection, posixPlaceFolder, posixShell } from "../posix.ts";
import { linuxSuccessor } from "../successor-linux.ts";
import { linuxLog } from "../system-log.ts";
import { linuxDesktop } from "./desktop.ts";
import { openByDescriptors } from "./directory.ts";
import { linuxDrives } from "./drives.ts";
import { linuxMounts } from "./mounts.ts";
import { linuxProcessList } from "./process-list.ts";
import { linuxProcesses } from "./processes.ts";
import { linuxTrash } from "./trash.ts";

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
