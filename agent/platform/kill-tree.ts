/** Ends the processes of a job: asks them, and kills them after a grace period, until none is left. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessRoot, ProcessTable } from "./processes.ts";

/** Interval between reads of the process table, in milliseconds. */
const LOOK_EVERY = 40;
/** Rounds after the first kill, because new processes may have been started in between. */
const KILL_ROUNDS = 25;

/** Resolves with the pids that could not be ended (not ours to signal): usually none. */
export async function stopTree(table: ProcessTable, root: ProcessRoot, graceMs: number): Promise<number[]> {
  const began = performance.now();
  const asked = new Set<number>();
  for (;;) {
    const alive = await table.members(root);
    if (alive.length === 0) return [];
    const fresh = alive.filter((pid) => !asked.has(pid));
    if (fresh.length > 0) await table.signal(root, fresh, "SIGTERM");
    for (const pid of fresh) asked.add(pid);
    if (performance.now() - began + LOOK_EVERY > graceMs) break;
    await sleep(LOOK_EVERY);
  }
  let alive: number[] = [];
  for (let round = 0; round < KILL_ROUNDS; round++) {
    alive = await table.members(root);
    if (alive.length === 0) return [];
    await table.signal(root, alive, "SIGKILL");
    await sleep(LOOK_EVERY / 4);
  }
  return alive;
}
