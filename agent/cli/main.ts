/** `matrx`: the agent's and the caller's command line. */
import { MatrxError } from "@matrx/shared/errors.ts";
import { Command, CommanderError, Option } from "commander";
import { AGENT_VERSION } from "../version.ts";
import { addAccount } from "./account.ts";
import { addCall } from "./call.ts";
import { addCalls } from "./calls.ts";
import { addCompletion } from "./completion/completion.ts";
import { addDevices } from "./devices.ts";
import { addDoctor } from "./doctor.ts";
import { addEvents } from "./events.ts";
import { exitCodeOf, reportFailure, usageError } from "./failure.ts";
import { addLogin } from "./login.ts";
import { addLogs } from "./logs.ts";
import { isReaderGone, watchOutput } from "./lost-output.ts";
import { addOpen } from "./open.ts";
import { addOutcome } from "./outcome.ts";
import { addPair } from "./pair.ts";
import { addPolicy } from "./policy.ts";
import { beQuiet, printJsonLine } from "./print.ts";
import { ReaderGone } from "./print-answer.ts";
import { asTyped } from "./program-name.ts";
import { addRun } from "./run.ts";
import { addServe } from "./serve.ts";
import { addStatus } from "./status.ts";
import { exitOfSignal } from "./stop-signal.ts";
import { addToken } from "./token.ts";
import { addTools } from "./tools.ts";
import { addUnpair } from "./unpair.ts";
import { addUp } from "./up.ts";
import { addUse } from "./use.ts";
import { addVersion } from "./version.ts";

const program = new Command("matrx")
  .description("Reach your machines from anywhere, and run their tools")
  .version(AGENT_VERSION, "-v, --version", "print the version")
  .helpCommand("help [command]", "explain a command")
  .helpOption("-h, --help", "explain")
  .showHelpAfterError("(matrx --help explains)")
  .enablePositionalOptions()
  .exitOverride()
  .configureOutput({
    writeOut: (text) => process.stdout.write(asTyped(text)),
    writeErr: (text) => process.stderr.write(asTyped(text)),
  });

program.commandsGroup("On the machine that you want to reach:");
addUp(program);
addPair(program);
addUnpair(program);
addServe(program);
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
addTools(program);
addOutcome(program);
addEvents(program);
addPolicy(program);
addToken(program);
addStatus(program);
addOpen(program);
program.commandsGroup("About this program:");
addCompletion(program);
addVersion(program);

/** The command that runs, once its line was understood. */
let running: Command | undefined;
for (const command of withChildren(program)) {
  if (command === program) continue;
  command.addOption(new Option("-q, --quiet", "print results and errors only"));
}
program.hook("preAction", (_program, command) => {
  running = command;
  if (command.opts().quiet) beQuiet();
});

watchOutput();
try {
  await program.parseAsync();
} catch (error) {
  const isStopped =
    error instanceof ReaderGone || (error instanceof MatrxError && error.code === "CANCELLED");
  process.exitCode = (isStopped ? exitOfSignal() : undefined) ?? exitCodeOf(error);
  const json = running ? running.opts().json === true : process.argv.includes("--json");
  const isHelp = process.exitCode === 0;
  if (error instanceof CommanderError) {
    if (json && !isHelp) printJsonLine({ error: usageError(error) });
  } else if (!isStopped || !isReaderGone()) reportFailure(error, { json });
}

function withChildren(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withChildren)];
}
