import path from "node:path";
import { openByIdentity } from "./directory.ts";
import type { Platform } from "./platform.ts";
import { posixObjection, posixShell } from "./posix.ts";
import { darwinProcesses } from "./processes-darwin.ts";

export const darwin: Platform = {
  name: "Darwin",
  path: path.posix,
  // APFS compares names without case and without regard to how accents are composed.
  fold: (text) => text.normalize("NFC").toLowerCase(),
  objectionTo: posixObjection,
  isProcessInside: () => false,
  shell: posixShell,
  openDirectory: openByIdentity,
  processes: darwinProcesses,
};
