import path from "node:path";
import { openByIdentity } from "../directory.ts";
import { noMounts } from "../mounts.ts";
import { darwinOtherHomes } from "../other-homes.ts";
import type { Platform } from "../platform.ts";
import { posixObjection, posixPlaceFolder, posixShell } from "../posix.ts";
import { successorByCopy } from "../successor.ts";
import { darwinLog } from "../system-log.ts";
import { darwinDesktop } from "./desktop.ts";
import { darwinDrives } from "./drives.ts";
import { darwinProcessList } from "./process-list.ts";
import { darwinProcesses } from "./processes.ts";
import { darwinTrash } from "./trash.ts";

const SYSTEM_FOLDERS =
  "Applications Library System Users Volumes bin cores dev opt private private/etc private/tmp private/var sbin usr";

const DATA_VOLUME = /^\/system\/volumes\/data(?=\/.)/;

export const darwin: Platform = {
  name: "Darwin",
  path: path.posix,
  // APFS compares names without case and without regard to how accents are composed. The volume with all that people
  // write appears a second time.
  fold: (text) => text.normalize("NFC").toLowerCase().replace(DATA_VOLUME, ""),
  objectionTo: posixObjection,
  // The volumes appear a second time below /System/Volumes.
  notSearched: ["/dev", "/System/Volumes"],
  kernelView: () => undefined,
  shell: posixShell,
  openDirectory: openByIdentity,
  makeSuccessor: successorByCopy,
  processes: darwinProcesses,
  drives: darwinDrives,
  systemFolders: SYSTEM_FOLDERS.split(" ").map((name) => `/${name}`),
  otherHomes: darwinOtherHomes,
  mounts: () => noMounts,
  placeFolder: posixPlaceFolder,
  trash: darwinTrash,
  systemLog: darwinLog,
  processList: darwinProcessList,
  desktop: darwinDesktop,
};
