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

/**
 * Throws CommanderError for a line that commander answers with all help, or not at all: help about a command that there is
 * not, and an option before the command.
 */
export function refuseStrayWords(program: Command, [first = "", ...rest]: readonly string[]): void {
  const names = program.commands.flatMap((one) => [one.name(), ...one.aliases()]);
  if (first.startsWith("-")) {
    const command = rest.find((word) => names.includes(word));
    if (command === undefined || AHEAD.has(first)) return;
    const others = rest.filter((word) => word !== command);
    const says = `(options follow the command: ${["matrx", command, first, ...others].join(" ")})`;
    program.error(`error: unknown option '${first}'\n${says}`, { code: "commander.unknownOption" });
  }
  const word = first === "help" ? rest[0] : first;
  if (!word || word.startsWith("-") || names.includes(word) || word === "help") return;
  refuseCommand(program, word, names);
}

/** Options that need no command. */
const AHEAD: ReadonlySet<string> = new Set(["-h", "--help", "-v", "--version"]);

/** What follows a command that does something by itself, and has commands below it, is the name of one: not too much. */
function refuseSlips(command: Command): void {
  command.allowExcessArguments().hook("preAction", (_command, chosen) => {
    const [word] = command.args;
    if (chosen !== command || word === undefined) return;
    refuseCommand(
      command,
      word,
      command.commands.map((one) => one.name()),
    );
  });
}

function refuseCommand(command: Command, word: string, names: readonly string[]): never {
  const near = nearestName(word, names);
  const suggestion = near === undefined ? "" : `\n(Did you mean ${near}?)`;
  command.error(`error: unknown command '${word}'${suggestion}`, { code: "commander.unknownCommand" });
}

/** A command and all its subcommands. */
export function withChildren(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withChildren)];
}
