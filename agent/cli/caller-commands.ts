/** The commands of callers, from anywhere. */
import type { Command } from "commander";
import { addAccount } from "./commands/account.ts";
import { addApprovals } from "./commands/approvals.ts";
import { addAudit } from "./commands/audit.ts";
import { addCall } from "./commands/call.ts";
import { addCalls } from "./commands/calls.ts";
import { addCloud } from "./commands/cloud.ts";
import { addCp } from "./commands/cp.ts";
import { addDevices } from "./commands/devices.ts";
import { addEvents } from "./commands/events.ts";
import { addForward } from "./commands/forward.ts";
import { addLogin } from "./commands/login.ts";
import { addOpen } from "./commands/open.ts";
import { addOutcome } from "./commands/outcome.ts";
import { addPolicy } from "./commands/policy.ts";
import { addRun } from "./commands/run.ts";
import { addShare } from "./commands/share.ts";
import { addShell } from "./commands/shell.ts";
import { addStatus } from "./commands/status.ts";
import { addToken } from "./commands/token.ts";
import { addTools } from "./commands/tools.ts";
import { addUse } from "./commands/use.ts";

/** In the order of the help. */
export function addCallerCommands(program: Command): void {
  addLogin(program);
  addAccount(program);
  addDevices(program);
  addUse(program);
  addRun(program);
  addCall(program);
  addCalls(program);
  addCp(program);
  addCloud(program);
  addForward(program);
  addShell(program);
  addTools(program);
  addOutcome(program);
  addEvents(program);
  addApprovals(program);
  addAudit(program);
  addPolicy(program);
  addToken(program);
  addShare(program);
  addStatus(program);
  addOpen(program);
}
