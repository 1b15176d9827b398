/** `matrx completion`: scripts that complete commands, options, devices and tools; and `matrx complete`, which they call. */

import { pathOf, type RelayClient } from "@matrx/client/http/relay-client.ts";
import { deviceListSchema, toolNamesSchema } from "@matrx/shared/api.ts";
import { Argument, type Command, type Option } from "commander";
import { callerOf } from "../client/credentials.ts";
import { chosenDevice } from "../client/default-device.ts";
import { deviceNamed } from "../client/find-device.ts";
import { plain } from "../output/print.ts";

const EXAMPLES = `
Examples:
  matrx completion bash >> ~/.bashrc
  matrx completion zsh > "\${fpath[1]}/_matrx"
  matrx completion fish > ~/.config/fish/completions/matrx.fish
  matrx completion powershell >> $PROFILE`;

/** Short, because the user is waiting at the prompt; in milliseconds. */
const ANSWERS_WITHIN = 1500;

export function addCompletion(program: Command): void {
  program
    .command("completion")
    .description("print a completion script for your shell")
    .addArgument(new Argument("<shell>", "your shell").choices(Object.keys(COMPLETION_SCRIPTS)))
    .addHelpText("after", EXAMPLES)
    .action((shell: ShellName) => console.log(COMPLETION_SCRIPTS[shell]));
  program
    .command("complete", { hidden: true })
    .option("--current <word>", "the word at the cursor", "")
    .argument("[words...]")
    .action(async (words: string[], { current }: { current: string }) => {
      for (const candidate of await candidatesFor(program, words, current, namesAtRelay))
        console.log(plain(candidate));
    });
}

const namesAtRelay: Names = {
  devices: () => quietly(async (client) => (await listed(client)).map(({ name }) => name)),
  tools: (device) =>
    quietly(async (client) => {
      const wanted = device ?? chosenDevice(client);
      const devices = await listed(client);
      const [only] = devices;
      if (wanted === undefined && (!only || devices.length > 1)) return [];
      const { id } = wanted === undefined && only ? only : deviceNamed(devices, wanted ?? "");
      const path = pathOf("v1", "devices", id, "tools", "list");
      return toolNamesSchema.parse((await client.send("GET", path, { timeoutMs: ANSWERS_WITHIN })).body)
        .tools;
    }),
};

async function listed(client: RelayClient) {
  const { body } = await client.send("GET", "/v1/devices", { timeoutMs: ANSWERS_WITHIN });
  return deviceListSchema.parse(body).devices;
}

/** Completion cannot show an error, so there is just nothing to choose from. */
async function quietly(ask: (client: RelayClient) => Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    const { MATRX_RELAY: relay, MATRX_TOKEN_FILE: tokenFile } = process.env;
    return await ask(callerOf({ ...(relay && { relay }), ...(tokenFile && { tokenFile }) }));
  } catch {
    return [];
  }
}

/** Names known to the relay: devices of the account, and tools of a device. Empty instead of an error. */
interface Names {
  devices(): Promise<readonly string[]>;
  /** Of the default device if none is given. */
  tools(device: string | undefined): Promise<readonly string[]>;
}

interface Line {
  readonly command: Command;
  /** Arguments before the cursor. */
  readonly given: readonly string[];
  /** The option whose value comes next. */
  readonly pending: Option | undefined;
}

/** What may follow `words` and begins with `current`. */
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

async function possible({ command, given, pending }: Line, current: string, names: Names) {
  if (pending) return pending.attributeName() === "device" ? names.devices() : (pending.argChoices ?? []);
  if (current.startsWith("-")) return optionsOf(command);
  const below = given.length === 0 ? shownCommands(command) : [];
  const [argument, next] = command.registeredArguments.slice(given.length);
  const values = argument ? await valuesOf(argument, next, given, names) : [];
  return [...below, ...values];
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
  // If the device may be omitted, a tool of the default device may come in its place.
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
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
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
  if (command.commands.length === 0) return [];
  return command
    .createHelp()
    .visibleCommands(command)
    .map((shown) => shown.name());
}

/**
 * Each shell calls `matrx complete` with the words of the line. Nothing that was typed is evaluated, and every candidate is
 * quoted as one word, because devices choose the names of their tools. Zsh and fish quote by themselves.
 */
const BASH = `_matrx() {
  local candidate
  COMPREPLY=()
  while IFS= read -r candidate; do
    printf -v candidate %q "$candidate"
    COMPREPLY+=("$candidate")
  done < <(
    matrx complete "--current=\${COMP_WORDS[COMP_CWORD]}" -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null
  )
}
complete -o default -F _matrx matrx`;

const ZSH = `#compdef matrx
_matrx() {
  local -a candidates
  candidates=("\${(@f)$(matrx complete "--current=$words[CURRENT]" -- "\${(@)words[2,CURRENT-1]}" 2>/dev/null)}")
  compadd -- $candidates
}
if [ "$funcstack[1]" = _matrx ]; then _matrx; else compdef _matrx matrx; fi`;

const FISH = `complete --command matrx --no-files --arguments \\
  '(matrx complete "--current="(commandline --current-token) -- (commandline --tokenize --cut-at-cursor --current-process)[2..] 2>/dev/null)'`;

/** Written from documents, not run. */
const POWERSHELL = `Register-ArgumentCompleter -Native -CommandName matrx -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  if ($wordToComplete -ne '') { $words = @($words | Select-Object -SkipLast 1) }
  matrx complete "--current=$wordToComplete" -- @words 2>$null |
    ForEach-Object {
      $text = if ($_ -match '^[\\w./:-]+$') { $_ } else { "'" + ($_ -replace "['\\u2018-\\u201b]", '$0$0') + "'" }
      [System.Management.Automation.CompletionResult]::new($text)
    }
}`;

export const COMPLETION_SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL } as const;
type ShellName = keyof typeof COMPLETION_SCRIPTS;
