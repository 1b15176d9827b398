/** `matrx up`: connects this machine until Ctrl-C. */
import { type Command, Option } from "commander";
import { logFileOption, logLevelOption, USUAL_PORT } from "../run/options.ts";
import type { UpOptions } from "../run/up.ts";

export function addUp(program: Command): void {
  program
    .command("up")
    .description("connect this machine until Ctrl-C; pairs it first if it is new")
    .option("--relay <url>", "when pairing: the relay's address (env: MATRX_RELAY)")
    .option("--name <name>", "when pairing: the device's name (default: this machine's name)")
    .option("--yes", "when pairing: accept whichever account approves, without asking")
    .option(
      "--serve [port]",
      `also serve its tools at http://localhost, on this port (default: ${USUAL_PORT}; 0: any free one)`,
    )
    .addOption(
      new Option("--allow-origin <origin...>", "with --serve: allow pages from this origin to call").default(
        [],
        "none",
      ),
    )
    .addOption(logFileOption)
    .addOption(logLevelOption)
    .option("--json", "print each change of the connection as a JSON line")
    .addHelpText(
      "after",
      "\nExamples:\n  matrx up --relay https://relay.example\n  matrx up\n  matrx up --serve\n  matrx up --log-file ~/matrx.log",
    )
    // Loaded lazily: other commands do not need it.
    .action(async (options: UpOptions) => (await import("../run/up.ts")).runUp(options));
}
