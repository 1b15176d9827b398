/** `matrx outcome`: what came of a call that was made before. */
import { callViewSchema } from "@matrx/shared/api.ts";
import type { Answer } from "@matrx/shared/caller-frames.ts";
import type { Command } from "commander";
import { answerSchema } from "./answer-schema.ts";
import { type CallerOptions, callerOf, relayOption, tokenFileOption } from "./credentials.ts";
import { wrongUse } from "./failure.ts";
import { findDevice } from "./find-device.ts";
import { plain, printJson } from "./print.ts";
import { endCall } from "./print-answer.ts";
import { withProgress } from "./progress.ts";
import { pathOf } from "./relay-client.ts";

interface OutcomeOptions extends CallerOptions {
  json?: boolean;
}

export function addOutcome(program: Command): void {
  program
    .command("outcome")
    .description("ask what came of a call with an effect, for a day after it was made")
    .argument("[device]", "id, name, or the beginning of one (default: see matrx use)")
    .argument("[call]", "the call's id, as its error or its answer names it")
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
  if (call === undefined) throw wrongUse("No call is named", "Name one: matrx outcome [DEVICE] CALL");
  const client = callerOf(options);
  const ask = async () => {
    const device = await findDevice(client, wanted);
    return client.get(pathOf("v1", "devices", device, "calls", call), callViewSchema);
  };
  const view = await withProgress("Asking the relay", ask());
  if (options.json) return printJson(view);
  if (view.outcome === undefined) return console.log(plain(STATES[view.state](view.tool)));
  const answer = answerSchema.parse(view.outcome) as Answer;
  const { device, tool } = view;
  const ended = { client, device, tool, isBase64: false, nextPage: undefined };
  await endCall({ answer, session: undefined }, ended, options);
}

const STATES = {
  accepted: (tool: string) =>
    `${tool} is under way, or its device has not told yet what came of it. Ask again later.`,
  finished: (tool: string) => `${tool} ended, and its outcome is not kept any more.`,
  expired: (tool: string) => `${tool} never ran: its time was over before the device had it.`,
  unknown: (tool: string) =>
    `${tool} may have run, in part or whole: the device lost track of it. Look what it did.`,
} as const;
