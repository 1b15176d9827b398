/** The commands for the machine that is to be reached. */
import type { Command } from "commander";
import { addActivity } from "./commands/activity.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addLogs } from "./commands/logs.ts";
import { addMcp } from "./commands/mcp.ts";
import { addMounts } from "./commands/mounts.ts";
import { addPair } from "./commands/pair.ts";
import { addPause, addResume } from "./commands/pause.ts";
import { addServe } from "./commands/serve.ts";
import { addUnpair } from "./commands/unpair.ts";
import { addUp } from "./commands/up.ts";

/** In the order of the help. */
export function addMachineCommands(program: Command): void {
  addUp(program);
  addPair(program);
  addUnpair(program);
  addServe(program);
  addMcp(program);
  addMounts(program);
  addActivity(program);
  addPause(program);
  addResume(program);
  addLogs(program);
  addDoctor(program);
}
