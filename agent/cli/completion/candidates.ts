/** What may stand next on a command line of ours. */
import type { Argument, Command, Option } from "commander";

/** Names that are known elsewhere: the devices of the account, the tools of one. They end in nothing rather than fail. */
export interface Names {
  devices(): Promise<readonly string[]>;
  /** Of the default device, if none is named. */
  tools(device: string | undefined): Promise<readonly string[]>;
}

interface Line {
  readonly command: Command;
  /** Arguments that stand already. */
  readonly given: readonly string[];
  /** An option whose value comes next. */
  readonly pending: Option | undefined;
}

/** All that begins like `current`, after `words`. */
export async function candidatesFor(
  program: Command,
  words: readonly string[],
  current: string,
  names: Names,
): Promise<string[]> {
  const line = readLine(program, words);
  const all = await possible(line, current, names);
  return all.filter((candidate) => candidate.startsWith(current));
}

function possible({ command, given, pending }: Line, current: string, names: Names) {
  if (pending) return pending.attributeName() === "device" ? names.devices() : (pending.argChoices ?? []);
  if (current.startsWith("-")) return optionsOf(command);
  if (command.commands.length > 0) return shownCommands(command);
  const [argument, next] = command.registeredArguments.slice(given.length);
  return argument ? valuesOf(argument, next, given, names) : [];
}

async function valuesOf(
  argument: Argument,
  next: Argument | undefined,
  [device = ""]: readonly string[],
  names: Names,
): Promise<readonly string[]> {
  if (argument.argChoices) return argument.argChoices;
  if (argument.name() === "tool") return names.tools(device);
  if (argument.name() !== "device") return [];
  // Where a device may be left out, its tools stand in its place.
  const tools = next?.name() === "tool" && !argument.required ? names.tools(undefined) : [];
  return (await Promise.all([names.devices(), tools])).flat();
}

function readLine(program: Command, words: readonly string[]): Line {
  let command = program;
  let pending: Option | undefined;
  const given: string[] = [];
  for (const word of words) {
    const option = pending ? undefined : optionNamed(command, word);
    const takesValue = option !== undefined && (option.required || option.optional) && !word.includes("=");
    const isValue = pending !== undefined;
    pending = takesValue ? option : undefined;
    if (isValue || word.startsWith("-")) continue;
    const next = command.commands.find((candidate) => candidate.name() === word);
    if (next) command = next;
    else given.push(word);
  }
  return { command, given, pending };
}

function optionNamed(command: Command, word: string): Option | undefined {
  const [name] = word.split("=");
  return command.options.find(({ long, short }) => name === long || name === short);
}

function optionsOf(command: Command): string[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long }) => long ?? []);
}

function shownCommands(command: Command): string[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((shown) => shown.name());
}
