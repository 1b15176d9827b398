/** `matrx mcp`: an MCP server on stdin and stdout, for AI programs on this machine. */
import { familiesSchema } from "@matrx/shared/family-schemas.ts";
import { FAMILIES, type Family } from "@matrx/shared/tool-families.ts";
import { type Command, InvalidArgumentError, Option } from "commander";
import { relayOption, tokenFileOption } from "../client/credentials.ts";
import { MCP_CLIENTS } from "../output/mcp-clients.ts";
import type { McpOptions } from "../run/mcp.ts";
import { printClientConfig } from "../run/mcp-config.ts";
import { logFileOption, logLevelOption } from "../run/options.ts";

export function addMcp(program: Command): void {
  program
    .command("mcp")
    .description("serve tools to an AI program that starts this command (MCP over stdin and stdout)")
    .option("--device <device>", "a device at the relay, by id or name, instead of this machine")
    .option("--all-devices", "every device that the token reaches; each call names its device")
    .addOption(relayOption)
    .addOption(tokenFileOption)
    .option(
      "--tools <families>",
      `what the model is shown: some of ${FAMILIES.join(",")}, or all`,
      familiesIn,
    )
    .option("--read-only", "this machine: only tools that change nothing")
    .option("--folder <path...>", "this machine: only files in these folders, for commands too")
    .option("--network <domain...>", "this machine: domains that commands may reach; without it none")
    .option("--as-owner", "this machine: act as you do in a terminal, with no sandbox around commands")
    .addOption(
      new Option(
        "--print-config <client>",
        "print what to put into a client's configuration, and end",
      ).choices(MCP_CLIENTS.map(({ name }) => name)),
    )
    .addOption(logFileOption)
    .addOption(logLevelOption)
    .option("--json", "with --print-config: only the snippet")
    .addHelpText(
      "after",
      `
An AI program starts this command by itself: put it into the program's configuration.
Without --device it serves this machine, needs no relay, and runs commands in the sandbox.

Examples:
  matrx mcp --print-config claude-desktop
  matrx mcp --folder ~/projects --network api.github.com --print-config cursor
  matrx mcp --device laptop --token-file ~/ai-token --print-config codex`,
    )
    // Loaded lazily: other commands do not need it.
    .action(async (options: McpOptions & { printConfig?: string; json?: boolean }) => {
      if (options.printConfig !== undefined) return printClientConfig(options.printConfig, options);
      await (await import("../run/mcp.ts")).runMcp(options);
    });
}

/** All that the option names, however often it is given. */
function familiesIn(text: string, before: readonly Family[] = []): readonly Family[] {
  const { data, error } = familiesSchema.safeParse([...before, text].join());
  if (data) return data;
  throw new InvalidArgumentError(`It ${error.issues[0]?.message}.`);
}
