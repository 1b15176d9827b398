/** The folder that one `matrx mcp` has while it runs, and what those that were killed have left in theirs. */
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { holdFile } from "../core/journal-db.ts";
import { Jobs } from "../jobs/jobs.ts";
import { endLeftovers } from "../mounts/child-transport.ts";
import { mountMark } from "../mounts/mark.ts";
import { makePrivateFolder, writePrivateFile } from "../platform/private-file.ts";

/** Held while a folder is made, in milliseconds: nobody takes a folder for left that is only just begun. */
const START_WITHIN = 1000;
/** Folders that one start looks after. */
const SWEPT_MAX = 20;

const serversSchema = z.array(z.string());

export interface RunFolder extends Disposable {
  readonly path: string;
}

/** `servers`: the names of those that it will mount. Throws MatrxError. */
export function openRunFolder(state: string, servers: readonly string[]): RunFolder {
  using _starting = holdFile(startLockIn(state), START_WITHIN);
  const path = join(runsIn(state), `${process.pid}-${randomUUID().slice(0, 8)}`);
  makePrivateFolder(path);
  const alive = holdFile(aliveIn(path), 0);
  // By their names the next program finds what is left of them, whatever the configuration says by then.
  writePrivateFile(serversIn(path), JSON.stringify(servers));
  const close = () => {
    alive?.[Symbol.dispose]();
    rmSync(path, { recursive: true, force: true });
  };
  return { path, [Symbol.dispose]: close };
}

/** The folder of a program's commands, which also names the processes of its servers. */
export function jobsIn(run: string): string {
  return join(run, "jobs");
}

/** Ends what killed programs have left running, and removes their folders; `own` is this program's. */
export async function sweepRunFolders(state: string, own: string): Promise<void> {
  for (const { path, lock } of leftFolders(state, own)) {
    try {
      await endAll(path);
      lock[Symbol.dispose]();
      rmSync(path, { recursive: true, force: true });
    } catch {
      // The next program tries again.
      lock[Symbol.dispose]();
    }
  }
}

/** Those that no program holds; now we do, so that nobody else sweeps them too. */
function leftFolders(state: string, own: string): { path: string; lock: Disposable }[] {
  using starting = holdFile(startLockIn(state), 0);
  // Another program is starting, and sweeps.
  if (!starting) return [];
  const left: { path: string; lock: Disposable }[] = [];
  for (const name of readdirSync(runsIn(state))) {
    const path = join(runsIn(state), name);
    // Our own is not even looked at: closing a file of it would let go of our lock on it.
    if (path === own || left.length === SWEPT_MAX) continue;
    const lock = holdFile(aliveIn(path), 0);
    if (lock) left.push({ path, lock });
  }
  return left;
}

async function endAll(run: string): Promise<void> {
  for (const server of serversOf(run)) await endLeftovers(mountMark(jobsIn(run), server));
  if (!existsSync(jobsIn(run))) return;
  const jobs = await Jobs.open({ directory: jobsIn(run) });
  await jobs.stopAll();
  jobs.close();
}

function serversOf(run: string): readonly string[] {
  if (!existsSync(serversIn(run))) return [];
  return serversSchema.parse(JSON.parse(readFileSync(serversIn(run), "utf8")));
}

function runsIn(state: string): string {
  return join(state, "mcp");
}

function startLockIn(state: string): string {
  return join(state, "mcp-start-lock");
}

function aliveIn(run: string): string {
  return join(run, "alive");
}

function serversIn(run: string): string {
  return join(run, "servers.json");
}
