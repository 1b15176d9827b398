import path from "node:path";
import { openByDescriptors } from "./directory-linux.ts";
import type { Platform } from "./platform.ts";
import { posixObjection, posixShell } from "./posix.ts";
import { linuxProcesses } from "./processes-linux.ts";

const PROCESS_INSIDE =
  /^\/proc\/\d+(?:\/task\/\d+)?\/(?:environ|auxv|mem|maps|smaps|map_files|fd|fdinfo|stack)(?:\/|$)/;

export const linux: Platform = {
  name: "Linux",
  path: path.posix,
  fold: (text) => text,
  objectionTo: posixObjection,
  isProcessInside(canonical) {
    const own = `/proc/${process.pid}`;
    return canonical === own || canonical.startsWith(`${own}/`) || PROCESS_INSIDE.test(canonical);
  },
  shell: posixShell,
  openDirectory: openByDescriptors,
  processes: linuxProcesses,
};
