/** `matrx status`: checks each hop from here to a tool on a device, which must answer a real call. */
import { errorInfo } from "@matrx/shared/errors.ts";
import type { Command } from "commander";
import { type CallerOptions, relayOption, tokenFileOption } from "../client/credentials.ts";
import { plain, printJson, styled } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";
import { checkHops, type Hop } from "../run/status-hops.ts";

interface StatusOptions extends CallerOptions {
  json?: boolean;
}

export function addStatus(program: Command): void {
  program
    .command("status")
    .description("can you reach a device from here? tries each step, up to a call of a tool")
    .argument("[device]", "id or name, or the start of one (default: this machine)")
    .addOption(relayOption)
    .addOption(tokenFileOption)
    .option("--json", "print JSON")
    .addHelpText("after", "\nExamples:\n  matrx status\n  matrx status laptop --json")
    .action(status);
}

async function status(wanted: string | undefined, options: StatusOptions): Promise<void> {
  const hops = await withProgress("Checking", checkHops(wanted, options));
  const failed = hops.find((hop) => hop.error);
  if (options.json) printJson({ ok: !failed, hops });
  else for (const hop of hops) printHop(hop);
  process.exitCode = failed?.error ? errorInfo(failed.error.code).exit : 0;
}

function printHop({ hop, ok, fact, error }: Hop): void {
  const mark = ok === undefined ? styled("dim", "–") : ok ? styled("green", "✓") : styled("red", "✗");
  console.log(`${mark} ${hop.padEnd(9)} ${plain(fact)}`);
  if (error?.hint) console.log(`  ${"".padEnd(9)} ${plain(error.hint)}`);
}
