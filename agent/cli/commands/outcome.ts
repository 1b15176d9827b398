/** `matrx outcome`: shows the result of an earlier call. */

import { pathOf, type RelayClient } from "@matrx/client/http/relay-client.ts";
import { type CallView, callViewSchema } from "@matrx/shared/api.ts";
import { type Answer, answerSchema } from "@matrx/shared/caller/to-caller.ts";
import type { Command } from "commander";
import { type CallerOptions, callerOf, relayOption, tokenFileOption } from "../client/credentials.ts";
import { deviceByRest } from "../client/device.ts";
import { findDevice } from "../client/find-device.ts";
import { usageError } from "../output/failure.ts";
import { plain, printJson } from "../output/print.ts";
import { endCall } from "../output/print-answer.ts";
import { withProgress } from "../output/progress.ts";

interface OutcomeOptions extends CallerOptions {
  json?: boolean;
}

export function addOutcome(program: Command): void {
  program
    .command("outcome")
    .description("show the result of an earlier call (kept for a day if it could change something)")
    .argument("[device]", "id or name, or the start of one (default: see matrx use)")
    .argument("[call]", "the call's id, from its answer or error")
    .usage("[options] [device] <call>")
    .addOption(relayOption)
    .addOption(tokenFileOption)
    .option("--json", "print the call's record as JSON")
    .addHelpText("after", "\nExamples:\n  matrx outcome laptop 0199d3a4-7c1e-7b52-9f3e-2d6a8c410e75")
    .action((device: string | undefined, call: string | undefined, options: OutcomeOptions) =>
      call === undefined ? outcome(undefined, device, options) : outcome(device, call, options),
    );
}

async function outcome(
  wanted: string | undefined,
  call: string | undefined,
  options: OutcomeOptions,
): Promise<void> {
  if (call === undefined) throw usageError("No call given", "Usage: matrx outcome [DEVICE] CALL");
  const client = callerOf(options);
  const ask = async () => {
    const device = await findDevice(client, wanted);
    return client.get(pathOf("v1", "devices", device, "calls", call), callViewSchema);
  };
  const view = await withProgress("Contacting the relay", ask());
  if (options.json) return printJson(view);
  const answer = await withProgress("Getting the result", answerOf(client, view));
  if (!answer) return console.log(plain(STATES[view.state](view.tool)));
  const { device, tool } = view;
  const ended = { client, device, tool, isBase64: false, nextPage: undefined };
  await endCall({ answer, session: undefined }, ended, options);
}

/** Undefined: there is none, or none any more. A long one is kept by the device alone. Throws MatrxError. */
async function answerOf(client: RelayClient, view: CallView): Promise<Answer | undefined> {
  const { device, call, outcome, outcome_in: place } = view;
  if (outcome !== undefined) return answerSchema.parse(outcome);
  return place === "journal" ? await deviceByRest(client, device).follow(call) : undefined;
}

const STATES = {
  awaiting_approval: (tool: string) =>
    `${tool} has not run yet: it waits until a person allows it. Try again later.`,
  accepted: (tool: string) =>
    `${tool} is still running, or its device hasn't reported the result yet. Try again later.`,
  finished: (tool: string) => `${tool} finished, but its result is no longer kept.`,
  expired: (tool: string) => `${tool} never ran: it expired before it reached the device.`,
  unknown: (tool: string) =>
    `${tool} may have run, fully or in part: the device lost track of it. Check what it changed.`,
} as const;
