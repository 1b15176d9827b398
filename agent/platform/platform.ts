/** What differs between operating systems, behind one interface. macOS and Windows: written from documents, not run. */
import type { PlatformPath } from "node:path";
import type { OpenDirectory } from "./directory.ts";
import type { Meter } from "./meter.ts";
import type { Mounts } from "./mounts.ts";
import type { ProcessList } from "./process-list.ts";
import type { ProcessTable } from "./processes.ts";
import type { SocketList } from "./sockets.ts";
import type { MakeSuccessor } from "./successor.ts";
import type { LogSource } from "./system-log.ts";
import type { TerminalProcesses } from "./terminal-processes.ts";

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
  /** Where the system's own programs are, as a PATH: no folder of a user. */
  systemPath(env: NodeJS.ProcessEnv): string;
  /** Name and version, as people know them. Undefined if the system does not tell. */
  distribution(): Promise<string | undefined>;
  /** The program that runs commands; `exists` asks for a file. */
  shell(env: NodeJS.ProcessEnv, exists: (path: string) => boolean): Shell;
  readonly openDirectory: OpenDirectory;
  readonly makeSuccessor: MakeSuccessor;
  readonly processes: ProcessTable;
  readonly terminals: TerminalProcesses;
  /** For the monitor of disk space. */
  readonly drives: ListDrives;
  /** Folders that the system needs, as canonical paths: no tool moves or deletes them. */
  readonly systemFolders: readonly string[];
  /** Home folders of other users that this program could perhaps read. */
  otherHomes(): readonly string[];
  /** As things stand now. */
  mounts(): Mounts;
  /** Gives a folder a new path, which must be free. Throws EEXIST or ENOTEMPTY when it is not, EXDEV on another file system. */
  renameFolder(source: string, destination: string): Promise<void>;
  readonly trash: TrashWay;
  /** Where the system's log is to be had: the first that answers. */
  readonly systemLog: readonly LogSource[];
  readonly processList: ProcessList;
  openMeter(): Meter;
  readonly sockets: SocketList;
  readonly desktop: DesktopCommands;
  /**
   * Where programs of this user reach an agent: a Unix socket in the folder, or a named pipe. Undefined if the system has
   * no such long names.
   */
  controlEndpoint(folder: string, name: string): string | undefined;
}

/** Places of this machine's own disks that can be written: no pseudo, read-only or network file systems. */
export interface Drive {
  /** As its users call it: `/`, `/home`, `C:`. */
  readonly name: string;
  /** A folder on it. */
  readonly path: string;
}

/** Lists them. None of them is touched: a dead one must not hold up the others. */
export type ListDrives = () => Promise<Drive[]>;

/** A program that runs commands for jobs. */
export interface Shell {
  readonly file: string;
  /** What rules are matched with in a command (`commandSubjects`): its language is this shell's. */
  subjects(command: string): string[];
  /** Arguments that run the text in `<directory>/command` and leave `cwd` and `rc` beside it. */
  argumentsFor(directory: string): string[];
  /** The same in a sandbox, which `wrap` puts around the shell; stdin is `<directory>/stdin`, if there is one. Absent: this system's shell cannot. */
  confine?(directory: string, wrap: Wrap): ConfinedRun;
  /** It writes `<directory>/log` itself; else its output is to be sent there. */
  readonly logsItself: boolean;
}

/** Puts a sandbox around a command. */
export type Wrap = (command: readonly string[]) => Wrapped;

/** A program to start instead of a command. */
export interface Wrapped {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What it reads from descriptors that it inherits, which keeps that out of the process list. */
  readonly fds: readonly { readonly fd: number; readonly content: Uint8Array }[];
}

/** How a shell runs a confined command. */
export interface ConfinedRun {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files that it reads from the job's directory, besides the command. */
  readonly files: readonly { readonly name: string; readonly content: Uint8Array }[];
}

/** What the place of a trash depends on. */
export interface TrashQuestion {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  readonly user: number;
  /** The canonical path of the folder where the file system of the deleted thing is mounted. */
  readonly top: string;
}

/** A folder of the trash. A thing is put only into one on its own file system. */
export interface TrashFolder {
  /** An absolute path whose links may be followed; what is below it may not be reached by links. */
  readonly base: string;
  /** Names below `base` that are made where they are missing, for this user only. */
  readonly names: readonly string[];
  /** Below these: the name of the folder for the things themselves; absent: they lie in it directly. */
  readonly files?: string;
  /** The name of the folder for what is known of them (freedesktop.org Trash specification 1.0). */
  readonly info?: string;
  /** What paths in there are written from; absent: they are absolute. */
  readonly writtenFrom?: string;
  /** The first of the names is used only where it stands already, is no link, and has the sticky bit. */
  readonly isShared?: true;
}

export type TrashWay =
  | { readonly by: "folder"; folders(question: TrashQuestion): readonly TrashFolder[] }
  | {
      readonly by: "program";
      /** Exit code 0: it lies in the trash. */
      command(path: string, isFolder: boolean, env: NodeJS.ProcessEnv): { file: string; args: string[] };
    };

/** A program to start, apart from the agent. */
export interface LaunchCommand {
  /** An absolute path, or a name to be found on the PATH. */
  readonly program: string;
  readonly args: readonly string[];
  /** It is watched this long for an early failure, in milliseconds. */
  readonly watchMs: number;
  /** It only passes things on, and ends at once when that worked. */
  readonly handsOver: boolean;
  /** In a group of its own. */
  readonly detached: boolean;
}

/** A monitor by index or by name; absent: the primary one, or all where the program knows no other. */
export type MonitorChoice = number | string | undefined;

/** A program that writes a picture of the screen into a file, and ends. */
export interface Camera {
  readonly program: string;
  argsFor(file: string, format: "png" | "jpeg"): readonly string[];
}

/** Programs that read and write the text on the clipboard, in UTF-8. */
export interface ClipboardPrograms {
  readonly reader: ClipboardReader;
  readonly writer: ClipboardWriter;
  /** What their environment needs besides. */
  readonly env?: Readonly<Record<string, string>>;
}

/** It writes the text to its stdout. */
export interface ClipboardReader {
  readonly program: string;
  readonly args: readonly string[];
  /** What it says when it fails because there is no text. */
  readonly empty?: RegExp;
}

/** It reads the text from its stdin. */
export interface ClipboardWriter {
  readonly program: string;
  readonly args: readonly string[];
  /** It hands the text to each program that pastes, and so runs until something else is copied. Others end at once. */
  readonly serves: boolean;
  stdinFor(text: string): string;
}

export interface DesktopCommands {
  /** Tells whether there may be a screen. */
  hasDisplay(env: NodeJS.ProcessEnv): boolean;
  /** Tells whether that screen is there at this moment; `exists` asks for a socket. */
  isDisplayThere(env: NodeJS.ProcessEnv, exists: (path: string) => boolean): boolean;
  /** What to do when there is none. */
  readonly displayHint: string;
  /** What a picture of one colour all over probably means. */
  readonly blankHint: string;
  /** Programs that open a web address or an absolute path with the default handler, best first. */
  openers(target: string, env: NodeJS.ProcessEnv): readonly LaunchCommand[];
  /** Ways to start an application, best first; `hasEntry` asks for a desktop entry by its id. */
  launchers(
    app: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv,
    hasEntry: (id: string) => boolean,
  ): readonly LaunchCommand[];
  /** Programs that take a picture, best first; those that cannot choose this monitor are left out. */
  cameras(monitor: MonitorChoice, env: NodeJS.ProcessEnv): readonly Camera[];
  /** Best first. */
  clipboards(env: NodeJS.ProcessEnv): readonly ClipboardPrograms[];
  /** Where programs that open things are looked for, and what they read and load: each a file or folder, or missing. */
  handlerPlaces(env: NodeJS.ProcessEnv, home: string): readonly string[];
  /** A folder of this name may be more than a folder: a program, or what the system acts on when it is opened. */
  isMoreThanFolder(name: string): boolean;
}
