/** `matrx policy explain`: says what would become of a call, and which rule decides. */

import { pathOf } from "@matrx/client/http/relay-client.ts";
import { deviceToolsSchema } from "@matrx/shared/api.ts";
import { type Explanation, explanationSchema } from "@matrx/shared/policy-explain.ts";
import { decisionWords, ruleRows } from "@matrx/shared/policy-words.ts";
import type { Command } from "commander";
import { agentHome } from "../agent-home.ts";
import { readInput } from "../client/call-input.ts";
import { type CallerOptions, callerOf, withCallerOptions } from "../client/credentials.ts";
import { findDevice } from "../client/find-device.ts";
import { readWords, type Words } from "../client/words.ts";
import { usageError } from "../output/failure.ts";
import { note, plain, printJson, printTable } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";
import { explainHere } from "../run/explain-here.ts";

interface ExplainOptions extends CallerOptions {
  token?: string;
  json?: boolean;
}

export function addPolicyExplain(policy: Command): void {
  withCallerOptions(
    policy.command("explain").description("say which rule allows, asks about or refuses a call"),
  )
    .usage("[options] [device] <tool> [input...]")
    .argument("[device]", "id or name, or the start of one (default: this machine's own policy.json)")
    .argument("[tool]", "its name, in any case (see matrx tools)")
    .argument("[input...]", "one JSON object, or key=value ...")
    .option("--token <id>", "for this token, by its id (default: yours); requires a login")
    .addHelpText(
      "after",
      `
Nothing is called. A token is told about its own grant only.

Examples:
  matrx policy explain laptop Bash command='git push'
  matrx policy explain laptop Write '{"file_path":"~/.bashrc"}' --token grant_4k7m2x9qpatr6w1z
  matrx policy explain Read file_path=~/.ssh/config`,
    )
    .action(
      (device: string | undefined, tool: string | undefined, input: string[], _: unknown, command: Command) =>
        explainCall(
          readWords(
            [device, tool, ...input].filter((word) => word !== undefined),
            USAGE,
          ),
          // The options of `matrx policy` itself may stand after `explain`, too.
          command.optsWithGlobals<ExplainOptions>(),
        ),
    );
}

const USAGE = "matrx policy explain [DEVICE] TOOL [INPUT...]";

async function explainCall(words: Words, options: ExplainOptions): Promise<void> {
  const explanation = await (words.device === undefined
    ? here(words, options)
    : withProgress("Contacting the relay", atRelay(words, options)));
  if (options.json) return printJson(explanation);
  console.log(plain(decisionWords(explanation)));
  if (explanation.rules.length > 0) printTable(["BY", "FIELD", "SAYS", "ENTRY", ""], ruleRows(explanation));
  for (const more of explanation.notes) note(plain(more));
}

async function here({ tool, input }: Words, { token }: ExplainOptions): Promise<Explanation> {
  if (token !== undefined) throw usageError("--token needs a device", `Usage: ${USAGE}`);
  return await explainHere(agentHome(), tool, await readInput(input, false, async () => undefined));
}

async function atRelay(
  { device: wanted, tool, input: words }: Words,
  options: ExplainOptions,
): Promise<Explanation> {
  const client = callerOf(options);
  const device = await findDevice(client, wanted);
  const input = await readInput(words, false, async () => {
    const { tools } = await client.get(pathOf("v1", "devices", device, "tools"), deviceToolsSchema);
    return tools.find(({ name }) => name === tool)?.input_schema;
  });
  const { token: grant } = options;
  const wish = { tool, input, ...(grant !== undefined && { grant }) };
  return await client.post(pathOf("v1", "devices", device, "policy", "explain"), explanationSchema, wish);
}
