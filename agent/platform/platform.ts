/** What differs between operating systems, behind one interface. macOS and Windows: written from documents, not run. */
import type { PlatformPath } from "node:path";
import type { DesktopCommands } from "./desktop.ts";
import type { OpenDirectory } from "./directory.ts";
import type { ListDrives } from "./drives.ts";
import type { Mounts } from "./mounts.ts";
import type { ProcessList } from "./process-list.ts";
import type { ProcessTable } from "./processes.ts";
import type { Shell } from "./shell.ts";
import type { MakeSuccessor } from "./successor.ts";
import type { LogSource } from "./system-log.ts";
import type { TrashWay } from "./trash.ts";

/** `process`: memory, environment, arguments and open files of a process. `kernel`: memory of kernel and firmware. */
export type KernelView = "process" | "kernel";

export interface Platform {
  /** As uname says it. */
  readonly name: "Linux" | "Darwin" | "Windows";
  readonly path: PlatformPath;
  /** Brings two spellings of one place together, for comparing only. */
  fold(path: string): string;
  /** Why text cannot be a path of this system, or undefined. */
  objectionTo(path: string): string | undefined;
  /** Folders that hold no files of anybody: searched only by those who name them. */
  readonly notSearched: readonly string[];
  /** What of processes, kernel or firmware stands at a path of the system's own file systems and is closed to file tools. */
  kernelView(canonical: string): KernelView | undefined;
  /** The program that runs commands; `exists` asks for a file. */
  shell(env: NodeJS.ProcessEnv, exists: (path: string) => boolean): Shell;
  readonly openDirectory: OpenDirectory;
  readonly makeSuccessor: MakeSuccessor;
  readonly processes: ProcessTable;
  /** For the monitor of disk space. */
  readonly drives: ListDrives;
  /** Folders that the system needs, as canonical paths: no tool moves or deletes them. */
  readonly systemFolders: readonly string[];
  /** Home folders of other users that this program could perhaps read. */
  otherHomes(): readonly string[];
  /** As things stand now. */
  mounts(): Mounts;
  /** Gives a folder a new path, which must be free. Throws EEXIST or ENOTEMPTY when it is not, EXDEV on another file system. */
  placeFolder(source: string, destination: string): Promise<void>;
  readonly trash: TrashWay;
  /** Where the system's log is to be had: the first that answers. */
  readonly systemLog: readonly LogSource[];
  readonly processList: ProcessList;
  readonly desktop: DesktopCommands;
}
