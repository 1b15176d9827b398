/** The program that holds a machine's terminals outlives the agent, and ends later than a test wants to wait. */
import { setTimeout as sleep } from "node:timers/promises";
import { processesOf } from "./processes.ts";
import type { Rig } from "./rig.ts";

/** Ends the rig, and before it the holder. */
export async function stopWithHolder(rig: Rig): Promise<void> {
  await rig.agent.child.stop(5000);
  await endHolders(rig.dataDir);
  await rig.stop();
}

/** Ends the holders of agents whose folder this is. */
export async function endHolders(dataDir: string): Promise<void> {
  for (const pid of holdersOf(dataDir)) process.kill(pid, "SIGKILL");
  while (holdersOf(dataDir).length > 0) await sleep(20);
}

function holdersOf(dataDir: string): number[] {
  return processesOf(dataDir)
    .filter((line) => /terminal-holder\.js |terminals\/holder\/main\.ts /.test(line))
    .map((line) => Number.parseInt(line, 10));
}
