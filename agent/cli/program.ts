/** All commands of `matrx`. */
import { Command, Option } from "commander";
import { AGENT_VERSION } from "../config/program.ts";
import { addAccount } from "./commands/account.ts";
import { addActivity } from "./commands/activity.ts";
import { addApprovals } from "./commands/approvals.ts";
import { addAudit } from "./commands/audit.ts";
import { addCall } from "./commands/call.ts";
import { addCalls } from "./commands/calls.ts";
import { addCloud } from "./commands/cloud.ts";
import { addCompletion } from "./commands/completion.ts";
import { addCp } from "./commands/cp.ts";
import { addDevices } from "./commands/devices.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addEvents } from "./commands/events.ts";
import { addForward } from "./commands/forward.ts";
import { addLogin } from "./commands/login.ts";
import { addLogs } from "./commands/logs.ts";
import { addMcp } from "./commands/mcp.ts";
import { addOpen } from "./commands/open.ts";
import { addOutcome } from "./commands/outcome.ts";
import { addPair } from "./commands/pair.ts";
import { addPause, addResume } from "./commands/pause.ts";
import { addPolicy } from "./commands/policy.ts";
import { addRun } from "./commands/run.ts";
import { addServe } from "./commands/serve.ts";
import { addShare } from "./commands/share.ts";
import { addShell } from "./commands/shell.ts";
import { addStatus } from "./commands/status.ts";
import { addToken } from "./commands/token.ts";
import { addTools } from "./commands/tools.ts";
import { addUnpair } from "./commands/unpair.ts";
import { addUp } from "./commands/up.ts";
import { addUse } from "./commands/use.ts";
import { printJson } from "./output/print.ts";
import { asTyped } from "./program-name.ts";

export function makeProgram(): Command {
  const program = new Command("matrx")
    .description("Reach your machines from anywhere, and run their tools")
    .version(AGENT_VERSION, "-v, --version", "print the version")
    .helpCommand("help [command]", "show help for a command")
    .helpOption("-h, --help", "show help")
    .showHelpAfterError("(see matrx --help)")
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => process.stdout.write(asTyped(text)),
      writeErr: (text) => process.stderr.write(asTyped(text)),
    });

  program.commandsGroup("On the machine you want to reach:");
  addUp(program);
  addPair(program);
  addUnpair(program);
  addServe(program);
  addMcp(program);
  addActivity(program);
  addPause(program);
  addResume(program);
  addLogs(program);
  addDoctor(program);
  program.commandsGroup("From anywhere:");
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
  program.commandsGroup("About this program:");
  addCompletion(program);
  addVersion(program);

  for (const command of withChildren(program)) {
    if (command === program) continue;
    command.addOption(new Option("-q, --quiet", "print results and errors only"));
  }
  return program;
}

/** A command and all its subcommands. */
export function withChildren(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withChildren)];
}

function addVersion(program: Command): void {
  program
    .command("version")
    .description("print the version")
    .option("--json", "print JSON, with the version of Node and the system")
    .addHelpText("after", "\nExamples:\n  matrx version\n  matrx -v")
    .action(({ json }: { json?: boolean }) => {
      const { platform, arch, versions } = process;
      if (json) printJson({ version: AGENT_VERSION, node: versions.node, system: `${platform}-${arch}` });
      else console.log(AGENT_VERSION);
    });
}
