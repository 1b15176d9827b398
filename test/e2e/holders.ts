/** The program that holds a rig's terminals outlives the agent, and ends later than a test wants to wait. */
import { setTimeout as sleep } from "node:timers/promises";
import { processesOf } from "./processes.ts";
import type { Rig } from "./rig.ts";

/** Ends the rig, and before it the holder. */
export async function stopWithHolder(rig: Rig): Promise<void> {
  await rig.agent.child.stop(5000);
  for (const pid of holdersOf(rig)) process.kill(pid, "SIGKILL");
  while (holdersOf(rig).length > 0) await sleep(20);
  await rig.stop();
}

function holdersOf({ dataDir }: Rig): number[] {
  return processesOf(dataDir)
    .filter((line) => line.includes("terminals/holder/main"))
    .map((line) => Number.parseInt(line, 10));
}
