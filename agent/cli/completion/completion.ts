/** `matrx completion`: what a shell needs to complete commands, options, devices and tools; and what it then asks. */
import { deviceListSchema, toolNamesSchema } from "@matrx/shared/api.ts";
import { Argument, type Command } from "commander";
import { callerOf } from "../client/credentials.ts";
import { chosenDevice } from "../client/default-device.ts";
import { deviceNamed } from "../client/find-device.ts";
import { pathOf, type RelayClient } from "../client/relay-client.ts";
import { plain } from "../output/print.ts";
import { candidatesFor, type Names } from "./candidates.ts";
import { COMPLETION_SCRIPTS, type ShellName } from "./scripts.ts";

const EXAMPLES = `
Examples:
  matrx completion bash >> ~/.bashrc
  matrx completion zsh > "\${fpath[1]}/_matrx"
  matrx completion fish > ~/.config/fish/completions/matrx.fish
  matrx completion powershell >> $PROFILE`;

/** Somebody waits with a finger on the key. */
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

/** A shell that completes has no place for an error: then there is nothing to choose from. */
async function quietly(ask: (client: RelayClient) => Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    const { MATRX_RELAY: relay, MATRX_TOKEN_FILE: tokenFile } = process.env;
    return await ask(callerOf({ ...(relay && { relay }), ...(tokenFile && { tokenFile }) }));
  } catch {
    return [];
  }
}
