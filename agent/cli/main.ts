/** `matrx`: the command line of the agent and of callers. */
import { MatrxError } from "@matrx/shared/errors.ts";
import { type Command, CommanderError } from "commander";
import { commanderShape, exitCodeOf, reportFailure } from "./output/failure.ts";
import { beQuiet, printJsonLine } from "./output/print.ts";
import { isReaderGone, ReaderGone, watchOutput } from "./output/reader.ts";
import { makeProgram, refuseStrayWords } from "./program.ts";
import { exitOfSignal } from "./run/stop-signal.ts";

/** The command, once its line was parsed. */
let running: Command | undefined;
const program = (await makeProgram(process.argv[2])).hook("preAction", (_program, command) => {
  running = command;
  if (command.opts().quiet) beQuiet();
});

watchOutput();
try {
  refuseStrayWords(program, process.argv.slice(2));
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
