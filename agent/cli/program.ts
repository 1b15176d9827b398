/** The program `matrx`, made of the commands that a line needs. */
import { nearestName } from "@matrx/shared/effects.ts";
import { Command, Option } from "commander";
import { AGENT_VERSION } from "../config/program.ts";
import { COMMAND_GROUPS } from "./command-list.ts";
import { asTyped } from "./program-name.ts";

/** With the commands of the group that the first word belongs to; with all of them for help, a slip or no word at all. */
export async function makeProgram(word?: string): Promise<Command> {
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

  const named = COMMAND_GROUPS.filter(({ words }) => word !== undefined && words.includes(word));
  for (const { heading, load } of named.length > 0 ? named : COMMAND_GROUPS) {
    program.commandsGroup(heading);
    (await load())(program);
  }

  for (const command of withChildren(program)) {
    if (command === program) continue;
    command.addOption(new Option("-q, --quiet", "print results and errors only"));
    if (command.commands.length > 0 && command.registeredArguments.length === 0) refuseSlips(command);
  }
  return program;
}

/** What follows a command that does something by itself, and has commands below it, is the name of one: not too much. */
function refuseSlips(command: Command): void {
  command.allowExcessArguments().hook("preAction", (_command, chosen) => {
    const [word] = command.args;
    if (chosen !== command || word === undefined) return;
    const near = nearestName(
      word,
      command.commands.map((one) => one.name()),
    );
    const suggestion = near === undefined ? "" : `\n(Did you mean ${near}?)`;
    command.error(`error: unknown command '${word}'${suggestion}`, { code: "commander.unknownCommand" });
  });
}

/** A command and all its subcommands. */
export function withChildren(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withChildren)];
}
