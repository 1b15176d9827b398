/** The macOS implementation of `Platform`. Written from documents, not run. */
import path from "node:path";
import { openByIdentity } from "../directory.ts";
import { noMounts } from "../mounts.ts";
import { darwinOtherHomes } from "../other-homes.ts";
import type { DesktopCommands, Drive, LaunchCommand, ListDrives, Platform, TrashWay } from "../platform.ts";
import { posixControlEndpoint, posixObjection, posixRenameFolder, posixShell } from "../posix.ts";
import type { ProcessFacts, ProcessList } from "../process-list.ts";
import { familyOf, type ProcessRow, type ProcessTable, signalEach } from "../processes.ts";
import { runProgram } from "../run-program.ts";
import { successorByCopy } from "../successor.ts";
import { darwinLog } from "../system-log.ts";
import { noTerminalProcesses } from "../terminal-processes.ts";
import { DARWIN_CLIPBOARD } from "./clipboard.ts";
import { darwinMeter } from "./meter.ts";
import { programName } from "./program-name.ts";
import { darwinSockets } from "./sockets.ts";

const darwinTrash: TrashWay = {
  by: "folder",
  folders: ({ home, user, top }) => [
    { base: home, names: [".Trash"] },
    { base: top, names: [".Trashes", String(user)] },
  ],
};

const darwinProcesses: ProcessTable = {
  async beginOf(pid) {
    return (await rows()).find((row) => row.pid === pid)?.began;
  },

  async members(root) {
    return familyOf(root, await rows(), new Set());
  },

  waitForKeys: () => Promise.resolve(false),
  waitsForPipe: () => Promise.resolve(false),

  async signal(_root, pids, signal) {
    signalEach(pids, signal);
  },
};

async function rows(): Promise<ProcessRow[]> {
  const columns = "pid=,ppid=,pgid=,stat=,lstart=";
  const { stdout } = await runProgram("/bin/ps", ["-A", "-o", columns], { timeoutMs: 2000 });
  return parsePs(stdout.toString());
}

/** `ps` here tells no session number; the group stands for it. */
export function parsePs(text: string): ProcessRow[] {
  const found: ProcessRow[] = [];
  for (const line of text.split("\n")) {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line);
    if (!match || match[4]?.startsWith("Z")) continue;
    const group = Number(match[3]);
    found.push({
      pid: Number(match[1]),
      parent: Number(match[2]),
      group,
      session: group,
      began: match[5] ?? "",
    });
  }
  return found;
}

export const darwinProcessList: ProcessList = {
  startedWithinMs: 1000,

  async all() {
    const columns = "pid=,ppid=,stat=,user=,pcpu=,rss=,lstart=,command=";
    const { stdout } = await runProgram("/bin/ps", ["-A", "-ww", "-o", columns], {
      env: { LC_ALL: "C" },
      timeoutMs: 8000,
    });
    return parseProcessList(stdout.toString());
  },
};

const LINE =
  /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+([\d.]+)\s+(\d+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]{8}\s+\d{4})\s*(.*)$/;

/** Lines of `ps`; those that only wait to be collected are left out. */
export function parseProcessList(text: string): ProcessFacts[] {
  const found: ProcessFacts[] = [];
  for (const line of text.split("\n")) {
    const [, pid, parent, state, user = "", cpu, kilobytes, started = "", command = ""] =
      LINE.exec(line) ?? [];
    if (pid === undefined || state?.startsWith("Z")) continue;
    found.push({
      pid: Number(pid),
      parent: Number(parent),
      name: programName(command),
      command,
      user,
      cpuPercent: Number(cpu),
      memoryBytes: Number(kilobytes) * 1024,
      started: Date.parse(started),
    });
  }
  return found;
}

/** Where the writable half of the system's volume is mounted; its users know it as `/`. */
const DATA = "/System/Volumes/Data";

const darwinDrives: ListDrives = async () => {
  const { stdout } = await runProgram("/sbin/mount", [], { timeoutMs: 5000 });
  return parseMount(stdout.toString());
};

/** Lines such as `/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled, nobrowse)`. */
export function parseMount(text: string): Drive[] {
  return [...text.matchAll(/^\/dev\/\S+ on (.+) \(([^()]+)\)$/gm)].flatMap(([, path = "", options = ""]) => {
    const set = new Set(options.split(", "));
    if (path === DATA) return [{ name: "/", path }];
    const counted = set.has("local") && !set.has("read-only") && !set.has("nobrowse");
    return counted ? [{ name: path, path }] : [];
  });
}

async function darwinDistribution(): Promise<string> {
  const { stdout } = await runProgram("/usr/bin/sw_vers", ["-productVersion"], { timeoutMs: 2000 });
  return `macOS ${stdout.toString().trim()}`;
}

const HANDED_OVER_MS = 5000;

export const darwinDesktop: DesktopCommands = {
  hasDisplay: () => true,
  isDisplayThere: () => true,
  displayHint: "Start the agent as the user who is signed in at the screen",
  blankHint:
    "the program that started the agent probably has no permission: System Settings, Privacy & Security, Screen Recording",

  openers: (target) => [open([target])],

  /** What is to be opened is for `open` itself; after `--args` an application finds it only where it looks for it. */
  launchers(app, args) {
    if (args.length === 0 || args.every((arg) => /^(?:\/|https?:)/i.test(arg)))
      return [open(["-a", app, ...args])];
    return [open(["-a", app, "--args", ...args])];
  },

  cameras(monitor) {
    if (typeof monitor === "string") return [];
    const display = monitor === undefined ? [] : ["-D", String(monitor + 1)];
    return [
      {
        program: "/usr/sbin/screencapture",
        argsFor: (file, format) => ["-x", "-t", format === "jpeg" ? "jpg" : "png", ...display, file],
      },
    ];
  },

  clipboards: () => [DARWIN_CLIPBOARD],

  handlerPlaces: (_env, home) => [
    ...["Library", "Applications", "bin", ".local", ".config"].map((name) => path.posix.join(home, name)),
    "/Applications",
    "/Library",
  ],

  /** Programs and their parts are folders with an extension, which the Finder runs or installs. */
  isMoreThanFolder: (name) => /.\.[^.]+$/.test(name),
};

function open(args: readonly string[]): LaunchCommand {
  return { program: "/usr/bin/open", args, watchMs: HANDED_OVER_MS, handsOver: true, detached: true };
}

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
  systemPath: () => "/usr/bin:/bin:/usr/sbin:/sbin",
  distribution: darwinDistribution,
  shell: posixShell,
  openDirectory: openByIdentity,
  makeSuccessor: successorByCopy,
  processes: darwinProcesses,
  terminals: noTerminalProcesses,
  drives: darwinDrives,
  systemFolders: SYSTEM_FOLDERS.split(" ").map((name) => `/${name}`),
  otherHomes: darwinOtherHomes,
  mounts: () => noMounts,
  renameFolder: posixRenameFolder,
  trash: darwinTrash,
  systemLog: darwinLog,
  processList: darwinProcessList,
  openMeter: darwinMeter,
  sockets: darwinSockets(),
  desktop: darwinDesktop,
  controlEndpoint: posixControlEndpoint,
};
