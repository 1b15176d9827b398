/** `matrx`: the agent's and the caller's command line. */
import { MatrxError } from "@matrx/shared/errors.ts";
import { type Command, CommanderError } from "commander";
import { commanderShape, exitCodeOf, reportFailure } from "./output/failure.ts";
import { beQuiet, printJsonLine } from "./output/print.ts";
import { ReaderGone } from "./output/print-answer.ts";
import { isReaderGone, watchOutput } from "./output/progress.ts";
import { makeProgram } from "./program.ts";
import { exitOfSignal } from "./run/stop-signal.ts";

/** The command that runs, once its line was understood. */
let running: Command | undefined;
const program = makeProgram().hook("preAction", (_program, command) => {
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
    if (json && !isHelp) printJsonLine({ error: commanderShape(error) });
  } else if (!isStopped || !isReaderGone()) reportFailure(error, { json });
}
