/** Finds and ends what a killed launcher left running on a data folder. */
import { realpathSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { MATRX_BIN, MATRX_SOURCES } from "../matrx-bin.ts";
import { hasCode, Problem } from "../problem.ts";
import { AGENT_GRACE, agentFolder } from "./agent.ts";
import { isAlive } from "./process.ts";
import { type FoundProcess, type ProcessTable, processTable } from "./process-table.ts";
import { STOP_GRACE } from "./relay.ts";
import { objectsOf } from "./workerd.ts";

/** Process ids that the lock notes. */
export interface Noted {
  relay?: number | undefined;
  agent?: number | undefined;
}

interface Orphan {
  readonly pid: number;
  readonly what: string;
  /** It gets this long to end by itself, in milliseconds. */
  readonly grace: number;
}

/** Older releases started the sources. */
const AGENTS = [MATRX_BIN, MATRX_SOURCES];

/** A process that was killed is gone within milliseconds, unless the system holds it. */
const GONE_WITHIN = 5000;

/**
 * Ends them, the agent first: it stops running commands, and its outcomes still reach the relay. Reports with `say`.
 * Throws Problem if one cannot be ended.
 */
export async function endOrphans(dataDir: string, noted: Noted, say: (line: string) => void): Promise<void> {
  for (const orphan of orphansOf(dataDir, noted)) await end(orphan, say);
}

/** By command line and environment; by the noted number where the system tells less. The number may be missing or another's. */
export function orphansOf(dataDir: string, noted: Noted, table: ProcessTable = processTable): Orphan[] {
  const isAgent = ({ pid, command }: FoundProcess) => {
    if (!AGENTS.some((program) => `${command} `.includes(`${program} up `))) return false;
    const folder = table.variableOf(pid, "MATRX_HOME");
    return folder === undefined ? pid === noted.agent : isSameFolder(folder, agentFolder(dataDir));
  };
  const isRelay = ({ command }: FoundProcess) => {
    const folder = / -dobjects=(.+?)(?: -d|$)/.exec(command)?.[1];
    return folder !== undefined && isSameFolder(folder, objectsOf(dataDir));
  };
  const all = table.all();
  const found = [
    ...all.filter(isAgent).map(({ pid }) => ({ pid, what: "agent", grace: AGENT_GRACE })),
    ...all.filter(isRelay).map(({ pid }) => ({ pid, what: "relay", grace: STOP_GRACE })),
  ];
  if (all.length === 0) refuseUnknown([noted.agent, noted.relay]);
  return found.filter(({ pid }) => pid !== process.pid);
}

/** One folder may have several paths. */
function isSameFolder(one: string, other: string): boolean {
  try {
    return realpathSync.native(one) === realpathSync.native(other);
  } catch {
    return one === other;
  }
}

/** Where the system does not show command lines, a person has to check. Throws Problem. */
function refuseUnknown(pids: readonly (number | undefined)[]): void {
  const left = pids.find((pid) => pid !== undefined && isAlive(pid));
  if (left === undefined) return;
  throw new Problem(
    `Process ${left} may be left over from an earlier start: end it if it is workerd or node, delete relay.pid in the data folder otherwise, and start again.`,
  );
}

async function end({ pid, what, grace }: Orphan, say: (line: string) => void): Promise<void> {
  say(`Ending the ${what} left over from an earlier start (process ${pid}) ...`);
  try {
    process.kill(pid, "SIGTERM");
    if (await isGone(pid, grace)) return;
    process.kill(pid, "SIGKILL");
    if (await isGone(pid, GONE_WITHIN)) return;
  } catch (error) {
    if (hasCode(error, "ESRCH")) return;
    throw new Problem(
      `The ${what} left over from an earlier start belongs to another user (process ${pid}): end it, and start again.`,
    );
  }
  throw new Problem(
    `The ${what} left over from an earlier start does not stop (process ${pid}): end it, and start again.`,
  );
}

async function isGone(pid: number, within: number): Promise<boolean> {
  for (const until = performance.now() + within; performance.now() < until; await sleep(20))
    if (!isAlive(pid)) return true;
  return !isAlive(pid);
}
