/** Finds and signals the processes of a job. */

export interface ProcessRoot {
  readonly pid: number;
  /** When it began, as the system reports it, since a pid may be reused for another process. */
  readonly began: string;
  /** `NAME=value` in the environment that the job's processes inherit. */
  readonly mark: string;
}

export interface ProcessTable {
  /** When a process began; undefined if there is none with this pid. */
  beginOf(pid: number): Promise<string | undefined>;
  /** Living processes of a job. */
  members(root: ProcessRoot): Promise<number[]>;
  /** Whether one of them seems to wait for input at a terminal; also false if the system does not tell. */
  waitForKeys(pids: readonly number[]): Promise<boolean>;
  /** Whether all that it does is to wait until another program opens a pipe; also false if the system does not tell. */
  waitsForPipe(pid: number): Promise<boolean>;
  signal(root: ProcessRoot, pids: readonly number[], signal: "SIGTERM" | "SIGKILL"): Promise<void>;
}

/** Signals each process; ignores those that have ended meanwhile. */
export function signalEach(pids: readonly number[], signal: "SIGTERM" | "SIGKILL"): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ESRCH" && code !== "EPERM") throw error;
    }
  }
}

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly began: string;
}

/**
 * The processes that belong to a root: its group, its session, its descendants, and their descendants.
 * A group or session number counts only while it is the root's own and not reused.
 */
export function familyOf(
  root: ProcessRoot,
  all: readonly ProcessRow[],
  marked: ReadonlySet<number>,
): number[] {
  // A job may have begun this program itself.
  const rows = all.filter((row) => row.pid !== process.pid);
  const first = rows.find((row) => row.pid === root.pid);
  const reused = first !== undefined && first.began !== root.began;
  const family = new Set<number>(marked);
  if (!reused) {
    for (const row of rows) {
      if (row.pid === root.pid || row.group === root.pid || row.session === root.pid) family.add(row.pid);
    }
  }
  for (let before = -1; before !== family.size; ) {
    before = family.size;
    for (const row of rows) if (family.has(row.parent)) family.add(row.pid);
  }
  family.delete(process.pid);
  return [...family];
}
