/** One relay per data folder: two would each have their own half of the truth. */
import { linkSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { hasCode, messageOf, Problem } from "../problem.ts";
import { MATRX_BIN } from "../tree.ts";
import { readIfThere, writePrivate } from "./data-folder.ts";
import { commandOf, isAlive } from "./process.ts";
import { objectsOf, WORKERD } from "./workerd.ts";

const pid = z.int().positive();

/** What `relay.pid` tells. */
const runningSchema = z.object({
  launcher: pid,
  relay: pid.optional(),
  agent: pid.optional(),
  port: z.int().optional(),
  /** It was told to stop, and will be gone in a moment. */
  stopping: z.boolean().optional(),
});
export type Running = z.infer<typeof runningSchema>;

export interface Lock {
  /** Notes more about what runs here, for the start after a crash. */
  note(more: Partial<Running>): void;
  release(): void;
}

/** An orphan gets this long to end by itself, in milliseconds. */
const ORPHAN_GRACE = 1000;
/** A launcher that is stopping is waited for, in milliseconds: after Ctrl-C the prompt is back before it is gone. */
const STOPPING_GRACE = 8000;

function pidFile(dataDir: string): string {
  return join(dataDir, "relay.pid");
}

/** Who runs on this folder by its pid file; undefined: nobody. Throws Problem if the file is damaged. */
export function readRunning(dataDir: string): Running | undefined {
  const file = pidFile(dataDir);
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

/** Tells whether the launcher that wrote the pid file still runs. */
export function isRunning({ launcher }: Running): boolean {
  if (!isAlive(launcher)) return false;
  const command = commandOf(launcher);
  return command === undefined || command.args.some((arg) => basename(arg) === "start.ts");
}

/**
 * Takes the folder for this process. Ends what a launcher that was killed left running; `say` hears of it.
 * Throws Problem if another launcher has the folder.
 */
export async function takeLock(dataDir: string, say: (line: string) => void): Promise<Lock> {
  const other = await withoutStopping(dataDir);
  if (other && isRunning(other)) throw alreadyRunning(dataDir, other);
  if (other) {
    await endOrphan(other.agent, (args) => args.includes(MATRX_BIN), say);
    await endOrphan(other.relay, (args) => args.includes(`-dobjects=${objectsOf(dataDir)}`), say);
    rmSync(pidFile(dataDir), { force: true });
  }
  create(dataDir);
  let running: Running = { launcher: process.pid };
  return {
    note: (more) => {
      running = { ...running, ...more };
      write(pidFile(dataDir), running);
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

/** The file appears with its content, and only if there is none: two starts at once cannot both have it. */
function create(dataDir: string): void {
  const draft = join(dataDir, `relay.pid.${process.pid}`);
  write(draft, { launcher: process.pid });
  try {
    linkSync(draft, pidFile(dataDir));
  } catch (error) {
    if (hasCode(error, "EEXIST")) throw alreadyRunning(dataDir, readRunning(dataDir));
    throw new Problem(
      `${pidFile(dataDir)} cannot be made (${messageOf(error)}): choose another folder with --data.`,
    );
  } finally {
    rmSync(draft, { force: true });
  }
}

function write(file: string, running: Running): void {
  writePrivate(file, `${JSON.stringify(running)}\n`);
}

async function endOrphan(
  orphan: number | undefined,
  isOurs: (args: string[]) => boolean,
  say: (line: string) => void,
): Promise<void> {
  if (orphan === undefined || !isAlive(orphan)) return;
  const command = commandOf(orphan);
  if (command && !isOurs(command.args)) return;
  if (!command) {
    throw new Problem(
      `Process ${orphan} may be left over from an earlier start: end it if it is ${basename(WORKERD)} or node, delete relay.pid in the data folder otherwise, and start again.`,
    );
  }
  say(`Ending process ${orphan}, left over from an earlier start ...`);
  process.kill(orphan, "SIGTERM");
  for (const until = performance.now() + ORPHAN_GRACE; performance.now() < until && isAlive(orphan); )
    await sleep(25);
  if (isAlive(orphan)) process.kill(orphan, "SIGKILL");
  while (isAlive(orphan)) await sleep(10);
}

function alreadyRunning(dataDir: string, other: Running | undefined): Problem {
  const where = other?.port ? ` at http://localhost:${other.port}` : "";
  return new Problem(
    `A relay already runs on ${dataDir}${where} (process ${other?.launcher ?? "unknown"}): ` +
      "stop it with Ctrl-C in its terminal, or start a second one with another --data and --port.",
  );
}
