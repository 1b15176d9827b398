/** Which words begin a line of `matrx`. Only the commands of its group are loaded: to load all would take as long as a call. */
import type { Command } from "commander";

export interface CommandGroup {
  readonly heading: string;
  /** Names and aliases of its commands, and options of the program that need no other group. */
  readonly words: readonly string[];
  readonly load: () => Promise<(program: Command) => void>;
}

const ABOUT = "About this program:";

/** In the order of the help. */
export const COMMAND_GROUPS: readonly CommandGroup[] = [
  {
    heading: "On the machine you want to reach:",
    words: "up pair unpair serve mcp mounts activity pause resume logs doctor".split(" "),
    load: async () => (await import("./machine-commands.ts")).addMachineCommands,
  },
  {
    heading: "From anywhere:",
    words: [
      ..."login whoami logout devices ls use run call calls ps cp cloud forward shell".split(" "),
      ..."tools outcome events approvals audit policy token share status open".split(" "),
    ],
    load: async () => (await import("./caller-commands.ts")).addCallerCommands,
  },
  {
    heading: ABOUT,
    words: ["completion"],
    load: async () => (await import("./commands/completion.ts")).addCompletion,
  },
  {
    heading: ABOUT,
    words: ["version", "--version", "-v"],
    load: async () => (await import("./commands/version.ts")).addVersion,
  },
];
