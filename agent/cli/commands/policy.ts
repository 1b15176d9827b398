/** `matrx policy`: shows or sets a device's policy at the relay; the device's own policy file applies as well. */
import { readFileSync } from "node:fs";
import { pathOf } from "@matrx/client/http/relay-client.ts";
import { policySetSchema } from "@matrx/shared/policy.ts";
import { policyLines } from "@matrx/shared/policy-words.ts";
import type { Command } from "commander";
import { type CallerOptions, callerOf, relayOption, tokenFileOption } from "../client/credentials.ts";
import { findDevice } from "../client/find-device.ts";
import { usageError } from "../output/failure.ts";
import { plain, printJson } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";
import { addPolicyExplain } from "./policy-explain.ts";

interface PolicyOptions extends CallerOptions {
  set?: string;
  json?: boolean;
}

export function addPolicy(program: Command): void {
  const shown = program
    .command("policy")
    .description("show or set a device's policy at the relay")
    .argument("[device]", "id or name, or the start of one (default: see matrx use)")
    .option("--set <file>", "set it from a JSON file (`-` for stdin); `{}` removes all limits")
    .addOption(relayOption)
    .addOption(tokenFileOption)
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Setting it requires a login (matrx login), not a token. It applies at once.

Examples:
  matrx policy laptop
  matrx policy explain laptop Bash command='git push'
  echo '{"allowed_tools":["Read","Grep"]}' | matrx policy laptop --set -`,
    )
    .action(policy);
  // Every other word is a device.
  addPolicyExplain(shown.helpCommand(false));
}

async function policy(wanted: string | undefined, options: PolicyOptions): Promise<void> {
  const newPolicy = options.set === undefined ? undefined : readJson(options.set);
  const client = callerOf(options);
  const ask = async () => {
    const path = pathOf("v1", "devices", await findDevice(client, wanted), "policy");
    const { body } = await (newPolicy === undefined
      ? client.send("GET", path)
      : client.send("PUT", path, { body: newPolicy }));
    return policySetSchema.parse(body);
  };
  const current = await withProgress("Contacting the relay", ask());
  for (const warning of current.warnings ?? []) console.error(`Warning: ${plain(warning)}`);
  if (options.json) return printJson(current);
  for (const line of policyLines(current)) console.log(plain(line));
}

/** The relay checks its content. */
function readJson(file: string): unknown {
  const name = file === "-" ? "stdin" : file;
  let text: string;
  try {
    text = readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (cause) {
    const why = cause instanceof Error && "code" in cause ? ` (${cause.code})` : "";
    throw usageError(`Can't read ${name}${why}`, "Give a JSON file to --set, or - for stdin");
  }
  try {
    return JSON.parse(text);
  } catch {
    throw usageError(`${name} is not JSON`, 'Write an object such as {"allowed_tools":["Read"]}');
  }
}
