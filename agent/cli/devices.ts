/** `matrx devices`: your machines, and whether they answer. */
import { type DeviceView, deviceListSchema } from "@matrx/shared/api.ts";
import type { Command } from "commander";
import { type CallerOptions, callerOf, relayOption, tokenFileOption } from "./credentials.ts";
import { ago, plain, printJson, printTable } from "./print.ts";
import { withProgress } from "./progress.ts";

interface DevicesOptions extends CallerOptions {
  json?: boolean;
}

export function addDevices(program: Command): void {
  program
    .command("devices")
    .description("list your machines, and whether they answer")
    .addOption(relayOption)
    .addOption(tokenFileOption)
    .option("--json", "print JSON")
    .addHelpText("after", "\nExamples:\n  matrx devices\n  matrx devices --json | jq '.devices[].id'")
    .action(listDevices);
}

async function listDevices(options: DevicesOptions): Promise<void> {
  const client = callerOf(options);
  const list = await withProgress("Asking the relay", client.get("/v1/devices", deviceListSchema));
  if (options.json) return printJson(list);
  if (list.devices.length === 0) {
    console.log(`No devices yet. On the machine that you want to reach: matrx pair --relay ${client.relay}`);
    return;
  }
  printTable(["NAME", "STATE", "SEEN", "LAST PROOF", "SYSTEM", "ID"], list.devices.map(rowOf));
}

function rowOf({ id, name, state, last_seen, proof, os, os_version }: DeviceView): string[] {
  const proved = proof ? `${proof.tool} ${proof.verdict}, ${ago(proof.at)}` : "none yet";
  const system = [os, os_version].filter(Boolean).join(" ");
  return [name, state, ago(last_seen), proved, system, id].map(plain);
}
