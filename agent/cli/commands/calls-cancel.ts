/** `matrx calls cancel`: ends calls of every caller, on a device or on all. */
import { cancelledCallsSchema } from "@matrx/shared/pause-api.ts";
import type { Command } from "commander";
import { type CallerOptions, callerOf, withCallerOptions } from "../client/credentials.ts";
import { findDevice } from "../client/find-device.ts";
import { usageError } from "../output/failure.ts";
import { note, printJson } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";

interface CancelOptions extends CallerOptions {
  all?: boolean;
  by?: string;
  json?: boolean;
}

export function addCallsCancel(calls: Command): void {
  withCallerOptions(calls.command("cancel"))
    .description("cancel all calls that run or wait, of every caller")
    .argument("[device]", "on this device: its id or name, or the start of one")
    .option("--all", "on all your devices")
    .option("--by <grant>", "only those of this token, by its id")
    .addHelpText(
      "after",
      `
This takes a login (matrx login), not a token. What a call did until then stays done.

Examples:
  matrx calls cancel laptop
  matrx calls cancel --all
  matrx calls cancel --all --by grant_4k7m2x9qpatr6w1z`,
    )
    .action(cancel);
}

async function cancel(wanted: string | undefined, options: CancelOptions): Promise<void> {
  const { all = false, by: grant, json } = options;
  if (all === (wanted !== undefined))
    throw usageError("Name a device, or say --all", "matrx calls cancel laptop, or matrx calls cancel --all");
  const client = callerOf(options);
  const ask = async () => {
    const device = wanted === undefined ? undefined : await findDevice(client, wanted);
    return client.post("/v1/calls/cancel", cancelledCallsSchema, { device, grant });
  };
  const { cancelled, devices, unreachable } = await withProgress("Cancelling", ask());
  if (json) return printJson({ cancelled, devices, unreachable });
  console.log(cancelled === 1 ? "1 call was asked to stop." : `${cancelled} calls were asked to stop.`);
  if (unreachable.length > 0) note(`These devices could not be asked: ${unreachable.join(", ")}`);
}
