/** `matrx calls`: lists the calls of the last day, to find one whose answer never arrived. */

import { pathOf } from "@matrx/client/http/relay-client.ts";
import { callListSchema, callQuerySchema, type ListedCall } from "@matrx/shared/api.ts";
import { type Command, Option } from "commander";
import { type CallerOptions, callerOf, relayOption, tokenFileOption } from "../client/credentials.ts";
import { findDevice } from "../client/find-device.ts";
import { ago, printJson, printTable } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";
import { addCallsCancel } from "./calls-cancel.ts";

interface CallsOptions extends CallerOptions {
  state?: string;
  before?: string;
  limit?: string;
  json?: boolean;
}

const states = new Option("--state <state>", "only calls in this state").choices(
  callQuerySchema.shape.state.unwrap().options,
);

export function addCalls(program: Command): void {
  const calls = program
    .command("calls")
    .alias("ps")
    .description("list calls of the last day that may have changed something, newest first")
    .argument("[device]", "id or name, or the start of one (default: see matrx use)")
    .addOption(states)
    .option("--before <call>", "only calls older than this one")
    .option("--limit <number>", "how many to show (default 50, max 100)")
    .addOption(relayOption)
    .addOption(tokenFileOption)
    .option("--json", "print JSON")
    .addHelpText("after", "\nExamples:\n  matrx calls laptop\n  matrx calls laptop --state unknown")
    .action(listCalls);
  addCallsCancel(calls);
}

async function listCalls(wanted: string | undefined, options: CallsOptions): Promise<void> {
  const client = callerOf(options);
  const { state, before, limit } = options;
  const query = Object.entries({ state, before, limit }).filter(([, value]) => value !== undefined);
  const ask = async () => {
    const device = await findDevice(client, wanted);
    const path = `${pathOf("v1", "devices", device, "calls")}?${new URLSearchParams(query as [string, string][])}`;
    return client.get(path, callListSchema);
  };
  const list = await withProgress("Asking the relay", ask());
  if (options.json) return printJson(list);
  if (list.calls.length === 0) return console.log("No calls.");
  printTable(["MADE", "TOOL", "STATE", "ENDED WITH", "CALL"], list.calls.map(rowOf));
  if (list.next) console.error(`More: matrx calls ${list.device} --before ${list.next}`);
}

function rowOf({ created, tool, state, status, code, call }: ListedCall): string[] {
  return [ago(created), tool, state, code ?? status ?? "", call];
}
