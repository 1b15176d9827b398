/** The Linux implementation of `Platform`. */
import path from "node:path";
import { linuxOtherHomes } from "../other-homes.ts";
import type { KernelView, Platform, TrashFolder, TrashWay } from "../platform.ts";
import {
  posixControlEndpoint,
  posixObjection,
  posixRenameFolder,
  posixShell,
  SYSTEM_PATH,
} from "../posix.ts";
import { linuxLog } from "../system-log.ts";
import { linuxDesktop } from "./desktop.ts";
import { openByDescriptors } from "./directory.ts";
import { linuxDistribution } from "./distribution.ts";
import { linuxMeter } from "./meter.ts";
import { linuxDrives, linuxMounts } from "./mounts.ts";
import { linuxProcessList } from "./process-list.ts";
import { linuxProcesses } from "./processes.ts";
import { linuxSockets } from "./sockets.ts";
import { linuxSuccessor } from "./successor.ts";
import { linuxTerminalProcesses } from "./terminal-processes.ts";

/** Entries of a process and its threads that reveal nothing of its memory, arguments, environment or files. */
const HARMLESS: ReadonlySet<string> = new Set(
  (
    "autogroup cgroup children comm cpuset limits loginuid mountinfo mounts mountstats net oom_adj oom_score " +
    "oom_score_adj sched schedstat sessionid stat statm status task timerslack_ns wchan"
  ).split(" "),
);

const PROCESS = /^\/proc\/\d+(?:\/task\/\d+)?\/([^/]+)/;

const KERNEL = new RegExp(
  "^(?:/proc/(?:kallsyms|kcore|keys?|key-users|kmsg|kpage[^/]*|modules|iomem|ioports|latency_stats|pagetypeinfo|" +
    "sched_debug|slabinfo|sysrq-trigger|timer_list|vmallocinfo|vmcore)|" +
    "/sys/(?:firmware|fs/pstore|kernel/(?:debug|tracing|notes|vmcoreinfo|boot_params)|module/[^/]+/(?:sections|notes)|" +
    "devices/virtual/dmi/id/[^/]*(?:serial|uuid)))(?:/|$)",
);

function linuxKernelView(canonical: string): KernelView | undefined {
  if (!canonical.startsWith("/proc/") && !canonical.startsWith("/sys/")) return undefined;
  if (KERNEL.test(canonical)) return "kernel";
  const own = `/proc/${process.pid}`;
  if (canonical === own || canonical.startsWith(`${own}/`)) return "process";
  const entry = PROCESS.exec(canonical)?.[1];
  return entry === undefined || HARMLESS.has(entry) ? undefined : "process";
}

const PARTS = { files: "files", info: "info" } as const;

const linuxTrash: TrashWay = {
  by: "folder",
  folders({ home, env, user, top }) {
    const { isAbsolute } = path.posix;
    const data = env.XDG_DATA_HOME && isAbsolute(env.XDG_DATA_HOME) ? env.XDG_DATA_HOME : undefined;
    const ofHome: TrashFolder[] = [];
    if (data) ofHome.push({ base: data, names: ["Trash"], ...PARTS });
    else if (isAbsolute(home)) ofHome.push({ base: home, names: [".local", "share", "Trash"], ...PARTS });
    return [
      ...ofHome,
      { base: top, names: [".Trash", String(user)], ...PARTS, writtenFrom: top, isShared: true },
      { base: top, names: [`.Trash-${user}`], ...PARTS, writtenFrom: top },
    ];
  },
};

const SYSTEM_FOLDERS =
  "bin boot dev etc home lib lib32 lib64 media mnt opt proc root run sbin srv sys tmp usr var";

export const linux: Platform = {
  name: "Linux",
  path: path.posix,
  fold: (text) => text,
  objectionTo: posixObjection,
  notSearched: ["/proc", "/sys", "/dev"],
  kernelView: linuxKernelView,
  systemPath: () => SYSTEM_PATH,
  distribution: linuxDistribution,
  shell: posixShell,
  openDirectory: openByDescriptors,
  makeSuccessor: linuxSuccessor,
  processes: linuxProcesses,
  terminals: linuxTerminalProcesses,
  drives: linuxDrives,
  systemFolders: SYSTEM_FOLDERS.split(" ").map((name) => `/${name}`),
  otherHomes: linuxOtherHomes,
  mounts: linuxMounts,
  renameFolder: posixRenameFolder,
  trash: linuxTrash,
  systemLog: linuxLog,
  processList: linuxProcessList,
  openMeter: linuxMeter,
  sockets: linuxSockets,
  desktop: linuxDesktop,
  controlEndpoint: posixControlEndpoint,
};
