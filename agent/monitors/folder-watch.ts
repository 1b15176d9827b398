/** Watches one folder while it exists: batches chokidar's events, leaves out Matrx's own files, follows no links. */
import { Stats } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import path from "node:path";
import type { ChokidarOptions, FSWatcher } from "chokidar";
import type { Emit, EventData } from "../events/report.ts";
import { isNodeError } from "../platform/private-file.ts";
import type { Problem } from "./problems.ts";
import { type Repeated, repeat } from "./repeat.ts";

type FileChange = "added" | "changed" | "removed";

interface ChangedFile {
  /** Below the folder. */
  readonly path: string;
  readonly change: FileChange;
}

/** Names in one event, and what they take together as JSON, in bytes; the count goes on. */
const NAMED = 20;
const NAMED_BYTES = 4000;

interface FileBatch {
  readonly count: number;
  readonly files: readonly ChangedFile[];
}

const EMPTY_BATCH: FileBatch = { count: 0, files: [] };

export function withFiles(batch: FileBatch, more: FileBatch): FileBatch {
  const files = [...batch.files];
  let bytes = Buffer.byteLength(JSON.stringify(files));
  for (const file of more.files) {
    bytes += Buffer.byteLength(JSON.stringify(file));
    if (files.length >= NAMED || bytes > NAMED_BYTES) break;
    files.push(file);
  }
  return { count: batch.count + more.count, files };
}

/** Joins the data of two events of one folder. */
export function joinBatches(earlier: EventData, later: EventData): EventData {
  return { ...earlier, ...withFiles(batchIn(earlier), batchIn(later)) };
}

function batchIn({ count, files }: EventData): FileBatch {
  return { count: Number(count), files: files as ChangedFile[] };
}

export interface FolderSettings {
  readonly path: string;
  readonly depth: number;
  readonly max_entries: number;
  readonly report: readonly FileChange[];
}

export interface FolderParts {
  readonly emit: Emit;
  /** Called with the problem that keeps this folder from being watched, or undefined once it is watched. */
  readonly onProblem: (problem: Problem | undefined) => void;
  /** Returns a check whether a canonical path is closed to watching, as of now. */
  readonly closedNow: () => IsClosed;
  readonly watch: (folder: string, options: ChokidarOptions) => FSWatcher;
  readonly times?: Partial<FolderTimes>;
}

type IsClosed = (canonical: string) => boolean;

/** In milliseconds. */
export interface FolderTimes {
  /** Changes are debounced: collected for this long from the first one. */
  readonly gather: number;
  /** A file is reported once its size stays the same for this long. */
  readonly settle: number;
  /** Delay until a folder that cannot be watched is retried. */
  readonly again: number;
}

const TIMES: FolderTimes = { gather: 5000, settle: 2000, again: 60_000 };
/** A folder with too many entries is counted again only after so many tries of others. */
const TRIES_APART = 10;
const IGNORED = new Set(["node_modules", ".git"]);

export class FolderWatch {
  readonly #settings: FolderSettings;
  readonly #parts: FolderParts;
  readonly #times: FolderTimes;
  readonly #looks: Repeated;
  #watcher: FSWatcher | undefined;
  /** Device and inode of what is watched. */
  #identity = "";
  #restUntil = 0;
  #isClosed: IsClosed = () => true;
  #batch: FileBatch = EMPTY_BATCH;
  #timer: NodeJS.Timeout | undefined;

  constructor(settings: FolderSettings, parts: FolderParts) {
    this.#settings = settings;
    this.#parts = parts;
    this.#times = { ...TIMES, ...parts.times };
    this.#looks = repeat({
      look: async (signal) => {
        if (this.#watcher) await this.#checkRoot(this.#watcher);
        else if (performance.now() >= this.#restUntil) await this.#open(signal);
        return this.#times.again;
      },
      againMs: this.#times.again,
      onEnd: (failure) => failure && parts.onProblem(this.#problemOf(failure)),
    });
  }

  async close(): Promise<void> {
    this.#looks.close();
    this.#flush();
    await this.#leave();
  }

  async #open(signal: AbortSignal): Promise<void> {
    const { closedNow, watch } = this.#parts;
    const root = await realpath(this.#settings.path);
    this.#isClosed = closedNow();
    if (this.#isClosed(root)) throw new ClosedFolder();
    const found = await stat(root);
    if (!found.isDirectory()) throw Object.assign(new Error("no folder"), { code: "ENOTDIR" });
    if (signal.aborted) return;
    const watcher = watch(root, {
      depth: this.#settings.depth,
      followSymlinks: false,
      ignorePermissionErrors: true,
      persistent: false,
      awaitWriteFinish: {
        stabilityThreshold: this.#times.settle,
        pollInterval: Math.min(500, this.#times.settle),
      },
      ignored: (entry) =>
        entry !== root && (IGNORED.has(path.basename(entry)) || this.#isClosed(path.normalize(entry))),
    });
    this.#watcher = watcher;
    this.#identity = identityOf(found);
    this.#follow(watcher, root);
  }

  /** Removing a drive may leave a watcher that gets no events. */
  async #checkRoot(watcher: FSWatcher): Promise<void> {
    const found = await stat(this.#settings.path).catch((error: unknown) => error);
    // A relay may have been started in it.
    this.#isClosed = this.#parts.closedNow();
    if (found instanceof Stats && identityOf(found) === this.#identity) return;
    this.#stop(watcher, this.#problemOf(found instanceof Stats ? GONE : found));
  }

  #follow(watcher: FSWatcher, root: string): void {
    let entries = 0;
    let ready = false;
    const appeared = () => {
      entries++;
      if (entries <= this.#settings.max_entries || this.#watcher !== watcher) return;
      this.#restUntil = performance.now() + TRIES_APART * this.#times.again;
      this.#stop(watcher, this.#tooMany());
    };
    const note = (file: string, change: FileChange) => {
      if (ready && this.#watcher === watcher && !this.#isClosed(file))
        this.#gather(path.relative(root, file), change);
    };
    watcher.on("ready", () => {
      ready = true;
      if (this.#watcher === watcher) this.#parts.onProblem(undefined);
    });
    watcher.on("add", (file) => {
      note(file, "added");
      appeared();
    });
    watcher.on("addDir", appeared);
    watcher.on("change", (file) => note(file, "changed"));
    watcher.on("unlink", (file) => {
      entries--;
      note(file, "removed");
    });
    watcher.on("unlinkDir", (folder) => {
      entries--;
      if (folder === root) this.#stop(watcher, this.#problemOf(GONE));
    });
    watcher.on("error", (error) => this.#stop(watcher, this.#problemOf(error)));
  }

  #gather(file: string, change: FileChange): void {
    if (!this.#settings.report.includes(change)) return;
    this.#batch = withFiles(this.#batch, { count: 1, files: [{ path: file.toWellFormed(), change }] });
    this.#timer ??= setTimeout(() => this.#flush(), this.#times.gather).unref();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#batch;
    this.#batch = EMPTY_BATCH;
    if (batch.count === 0) return;
    const folder = this.#settings.path;
    this.#parts.emit({
      type: "new_file_detected",
      severity: "info",
      data: { folder, ...batch },
      fold: { name: folder, join: joinBatches },
    });
  }

  /** Reports why the folder is not watched, until it is again. */
  #stop(watcher: FSWatcher, problem: Problem): void {
    if (this.#watcher !== watcher) return;
    this.#flush();
    this.#parts.onProblem(problem);
    void this.#leave();
  }

  async #leave(): Promise<void> {
    const watcher = this.#watcher;
    this.#watcher = undefined;
    await watcher?.close();
  }

  #tooMany(): Problem {
    const { path: folder, max_entries, depth } = this.#settings;
    return {
      message: `${folder} is not watched: it has more than ${max_entries} entries down to depth ${depth}`,
      hint: "Watch a smaller folder, or set depth or max_entries for it in config.json",
    };
  }

  #problemOf(error: unknown): Problem {
    const { path: folder } = this.#settings;
    if (error instanceof ClosedFolder) {
      return { message: `${folder} is not watched: it belongs to Matrx itself`, hint: OTHER_FOLDER };
    }
    const [, why, hint] = REASONS.find(([code]) => isNodeError(error, code)) ?? [];
    if (why) return { message: `${folder} is not watched: ${why}`, hint };
    const cause = error instanceof Error ? error.message : String(error);
    return { message: `${folder} is not watched because the system refused it`, cause };
  }
}

function identityOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}

const GONE = Object.assign(new Error("gone"), { code: "ENOENT" });

class ClosedFolder extends Error {}

const OTHER_FOLDER = "Name another folder under monitors.new_file_detected in config.json";

const REASONS: readonly (readonly [code: string, why: string, hint: string])[] = [
  [
    "ENOENT",
    "it does not exist",
    "Create it, or remove it from config.json; the agent looks for it every minute",
  ],
  ["ENOTDIR", "it is not a folder", OTHER_FOLDER],
  ["EACCES", "the agent's user can't read it", "Let the user read it, or name another folder"],
  ["EPERM", "the agent's user can't read it", "Let the user read it, or name another folder"],
  [
    "EMFILE",
    "too many files are open (EMFILE)",
    "Raise the limit of open files (ulimit -n), or watch smaller folders",
  ],
  [
    "ENOSPC",
    "the system's limit of watched folders is reached (ENOSPC)",
    "Raise fs.inotify.max_user_watches with sysctl, or watch smaller folders",
  ],
];
