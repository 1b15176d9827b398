/** `matrx pair`: makes this machine a device of your account. */
import type { Command } from "commander";
import { homeOf } from "../../config/app-dirs.ts";
import { relayOption } from "../client/credentials.ts";
import { note, plain, printJsonLine } from "../output/print.ts";
import { asTyped } from "../program-name.ts";
import { type PairOptions, pairMachine } from "../run/pair-machine.ts";
import { stopSignal } from "../run/stop-signal.ts";

export function addPair(program: Command): void {
  program
    .command("pair")
    .description("add this machine to your account")
    .addOption(relayOption)
    .option("--name <name>", "the device's name (default: this machine's name)")
    .option("--yes", "accept whichever account approves, without asking")
    .option("--replace", "pair again, even if this machine is already paired")
    .option("--json", "print JSON lines: first the code, then the device")
    .addHelpText(
      "after",
      `
Examples:
  matrx pair --relay https://relay.example
  matrx pair --relay https://relay.example --name laptop --yes --json`,
    )
    .action(pair);
}

async function pair(options: PairOptions): Promise<void> {
  const home = homeOf();
  const config = await pairMachine(home, options, stopSignal());
  if (options.json) return printJsonLine({ status: "paired", ...config, config: home.configFile });
  console.log(`Paired as ${plain(config.name)} (${plain(config.device_id)}).`);
  note(asTyped("Connect it with: matrx up"));
}
