/** `matrx serve`: serves this machine's tools at http://localhost, for programs on this machine. */
import { type Command, Option } from "commander";
import { logFileOption, logLevelOption, USUAL_PORT } from "../run/options.ts";
import type { ServeOptions } from "../run/serve.ts";

export function addServe(program: Command): void {
  program
    .command("serve")
    .description("serve this machine's tools at http://localhost until Ctrl-C")
    .option("--port <number>", "the port to listen on; 0 takes any free one", USUAL_PORT)
    .option(
      "--host <address>",
      "a loopback address of this machine; localhost means all of them",
      "localhost",
    )
    .option("--no-token", "don't require a token: any program on this machine may call")
    .addOption(
      new Option(
        "--allow-origin <origin...>",
        "allow pages from this origin to call, such as https://app.example",
      ).default([], "none"),
    )
    .addOption(logFileOption)
    .addOption(logLevelOption)
    .option("--json", "print its address as a JSON line")
    .addHelpText(
      "after",
      `
Examples:
  matrx serve
  matrx serve --port 8123 --allow-origin https://app.example
  sed 's/^/Authorization: Bearer /' TOKEN_FILE | curl -sS -H @- http://localhost:8000/tools/list`,
    )
    // Loaded lazily: other commands do not need it.
    .action(async (options: ServeOptions) => (await import("../run/serve.ts")).runServe(options));
}
