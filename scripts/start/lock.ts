/** Ensures one relay per data folder: two would each have half of the data. */
import { linkSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { hasCode, messageOf, Problem } from "../problem.ts";
import { readIfThere, writePrivate } from "./data-folder.ts";
import { endOrphans } from "./orphans.ts";
import { isAlive } from "./process.ts";
import { processTable } from "./process-table.ts";

const pid = z.int().positive();

/** What `relay.pid` tells. */
const runningSchema = z.object({
  launcher: pid,
  /** When the launcher began, as the system tells it. */
  began: z.string().optional(),
  relay: pid.optional(),
  agent: pid.optional(),
  port: z.int().optional(),
  /** Where links to it lead. */
  url: z.string().optional(),
  /** It was told to stop, and will be gone in a moment. */
  stopping: z.boolean().optional(),
});
export type Running = z.infer<typeof runningSchema>;

export interface Lock {
  /** Notes more about what is running, for a start after a crash. Never throws; failures are reported. */
  note(more: Partial<Running>): void;
  release(): void;
}

/** How long to wait for a launcher that is stopping, in milliseconds: after Ctrl-C the prompt returns before it is gone. */
const STOPPING_GRACE = 8000;

function pidFile(dataDir: string): string {
  return join(dataDir, "relay.pid");
}

/** What the folder's pid file says is running; undefined if nothing. Throws Problem if the file is damaged. */
export function readRunning(dataDir: string): Running | undefined {
  return readFile(pidFile(dataDir));
}

function readFile(file: string): Running | undefined {
  const text = readIfThere(file);
  if (text === undefined) return undefined;
  try {
    return runningSchema.parse(JSON.parse(text));
  } catch {
    throw new Problem(
      `${file} is damaged, so it is unclear whether a relay is running on this folder: make sure that none is, delete that file, and start again.`,
    );
  }
}

/** Whether the launcher that wrote the pid file is still running. Its pid may have been reused, even by this process. */
export function isRunning({ launcher, began }: Running): boolean {
  if (!isAlive(launcher)) return false;
  if (began !== undefined) return processTable.beganAt(launcher) === began;
  if (launcher === process.pid) return false;
  const command = processTable.commandOf(launcher);
  return command === undefined || /\bstart\.ts( |$)/.test(command);
}

/**
 * Locks the folder for this process. Ends what a killed launcher left running, and reports that with `say`.
 * Throws Problem if another launcher has the folder.
 */
export async function takeLock(dataDir: string, say: (line: string) => void): Promise<Lock> {
  const other = await withoutStopping(dataDir);
  if (other && isRunning(other)) throw alreadyRunning(dataDir, other);
  if (other) {
    await endOrphans(dataDir, other, say);
    removeStale(dataDir, other);
  }
  let running: Running = { launcher: process.pid, began: processTable.beganAt(process.pid) };
  create(dataDir, running);
  let isWritten = true;
  return {
    note: (more) => {
      running = { ...running, ...more };
      try {
        write(pidFile(dataDir), running);
        isWritten = true;
      } catch (error) {
        if (isWritten) say(messageOf(error));
        isWritten = false;
      }
    },
    release: () => rmSync(pidFile(dataDir), { force: true }),
  };
}

/** Who runs on the folder, once a launcher that is stopping has stopped. */
async function withoutStopping(dataDir: string): Promise<Running | undefined> {
  const until = performance.now() + STOPPING_GRACE;
  for (;;) {
    const other = readRunning(dataDir);
    if (!other?.stopping || !isRunning(other) || performance.now() > until) return other;
    await sleep(50);
  }
}

/** Removes the file of a launcher that is gone. Throws Problem if another start was faster and owns the file by now. */
function removeStale(dataDir: string, stale: Running): void {
  const aside = join(dataDir, `relay.pid.${process.pid}.old`);
  try {
    renameSync(pidFile(dataDir), aside);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return;
    throw error;
  }
  const { launcher, began } = readFile(aside) ?? stale;
  if (launcher === stale.launcher && began === stale.began) return rmSync(aside);
  renameSync(aside, pidFile(dataDir));
  throw alreadyRunning(dataDir, readRunning(dataDir));
}

/** The file appears with its content, and only if there is none: two starts at once cannot both have it. */
function create(dataDir: string, running: Running): void {
  const draft = join(dataDir, `relay.pid.${process.pid}`);
  write(draft, running);
  try {
    linkSync(draft, pidFile(dataDir));
  } catch (error) {
    if (hasCode(error, "EEXIST")) throw alreadyRunning(dataDir, readRunning(dataDir));
    throw new Problem(
      `${pidFile(dataDir)} cannot be created (${messageOf(error)}): choose another folder with --data.`,
    );
  } finally {
    rmSync(draft, { force: true });
  }
}

function write(file: string, running: Running): void {
  writePrivate(file, `${JSON.stringify(running)}\n`);
}

function alreadyRunning(dataDir: string, other: Running | undefined): Problem {
  const where = other?.port ? ` at http://localhost:${other.port}` : "";
  return new Problem(
    `A relay is already running on ${dataDir}${where} (process ${other?.launcher ?? "unknown"}): ` +
      "stop it with Ctrl-C in its terminal, or start a second one with another --data and --port.",
  );
}
