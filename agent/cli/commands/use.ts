/** `matrx use`: chooses the default device. */
import type { Command } from "commander";
import { type CallerOptions, callerOf, relayOption, tokenFileOption } from "../client/credentials.ts";
import { chosenDevice, rememberDevice } from "../client/default-device.ts";
import { viewDevice } from "../client/find-device.ts";
import { plain, printJson } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";

interface UseOptions extends CallerOptions {
  clear?: boolean;
  json?: boolean;
}

export function addUse(program: Command): void {
  program
    .command("use")
    .description("choose the default device for commands")
    .argument("[device]", "id or name, or the start of one; without it, show the current choice")
    .option("--clear", "choose none")
    .addOption(relayOption)
    .addOption(tokenFileOption)
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
The choice is kept per relay. MATRX_DEVICE takes precedence; without either, your only device is meant.

Examples:
  matrx use laptop
  matrx run -- uptime`,
    )
    .action(use);
}

async function use(wanted: string | undefined, options: UseOptions): Promise<void> {
  const client = callerOf(options);
  if (options.clear) {
    rememberDevice(client, undefined);
    return options.json ? printJson({ device: null }) : console.log("No default device.");
  }
  const device = await withProgress("Contacting the relay", viewDevice(client, wanted));
  if (wanted !== undefined) rememberDevice(client, device.id);
  const { id, name } = device;
  const by = wanted !== undefined ? "chosen" : chosenDevice(client) === undefined ? "only" : "chosen";
  if (options.json) return printJson({ device: id, name, by });
  console.log(`${plain(name)} (${id})${by === "only" ? ", your only device" : ""}`);
}
