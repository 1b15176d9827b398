/** `matrx`: the agent's and the caller's command line. */
import { Command, CommanderError } from "commander";
import { AGENT_VERSION } from "../version.ts";
import { addCall } from "./call.ts";
import { addCalls } from "./calls.ts";
import { addCompletion } from "./completion/completion.ts";
import { addDevices } from "./devices.ts";
import { addDoctor } from "./doctor.ts";
import { addEvents } from "./events.ts";
import { exitCodeOf, reportFailure } from "./failure.ts";
import { addLogin } from "./login.ts";
import { addLogs } from "./logs.ts";
import { watchOutput } from "./lost-output.ts";
import { addOutcome } from "./outcome.ts";
import { addPair } from "./pair.ts";
import { addPolicy } from "./policy.ts";
import { addServe } from "./serve.ts";
import { addStatus } from "./status.ts";
import { addTools } from "./tools.ts";
import { addUp } from "./up.ts";

const program = new Command("matrx")
  .description("Reach your machines from anywhere, and run their tools")
  .version(AGENT_VERSION, "-V, --version", "print the version")
  .helpCommand("help [command]", "explain a command")
  .helpOption("-h, --help", "explain")
  .showHelpAfterError("(matrx --help explains)")
  .exitOverride();

program.commandsGroup("On the machine that you want to reach:");
addPair(program);
addUp(program);
addServe(program);
addLogs(program);
addDoctor(program);
program.commandsGroup("From anywhere:");
addLogin(program);
addDevices(program);
addTools(program);
addCall(program);
addCalls(program);
addOutcome(program);
addEvents(program);
addPolicy(program);
addStatus(program);
program.commandsGroup("For your shell:");
addCompletion(program);

watchOutput();
try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
  if (!(error instanceof CommanderError)) reportFailure(error, { json: process.argv.includes("--json") });
}
