/** `matrx serve`: this machine's tools at http://localhost, for programs on this machine. */
import { type Command, Option } from "commander";
import { logFileOption, logLevelOption } from "./log-options.ts";
import type { ServeOptions } from "./run-serve.ts";
import { USUAL_PORT } from "./usual-port.ts";

export function addServe(program: Command): void {
  program
    .command("serve")
    .description("serve this machine's tools at http://localhost, until Ctrl-C")
    .option("--port <number>", "where to listen; 0 takes any free port", USUAL_PORT)
    .option("--host <address>", "an address of this machine alone (localhost: each it has)", "localhost")
    .option("--no-token", "let every program on this machine call, without a token")
    .addOption(
      new Option(
        "--allow-origin <origin...>",
        "let pages of this origin call, such as https://app.example",
      ).default([], "none"),
    )
    .addOption(logFileOption)
    .addOption(logLevelOption)
    .option("--json", "print where it listens as a JSON line")
    .addHelpText(
      "after",
      `
Examples:
  matrx serve
  matrx serve --port 8123 --allow-origin https://app.example
  sed 's/^/Authorization: Bearer /' TOKEN_FILE | curl -sS -H @- http://localhost:8000/tools/list`,
    )
    // What it runs is loaded late: other commands need none of it.
    .action(async (options: ServeOptions) => (await import("./run-serve.ts")).runServe(options));
}
