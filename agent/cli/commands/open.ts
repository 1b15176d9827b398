/** `matrx open`: opens the relay's page in the browser. */
import { homedir } from "node:os";
import { MatrxError } from "@matrx/shared/errors.ts";
import type { Command } from "commander";
import { type CallerOptions, relayOf, relayOption } from "../client/credentials.ts";
import { note, printJson } from "../output/print.ts";

interface OpenOptions extends CallerOptions {
  json?: boolean;
}

export function addOpen(program: Command): void {
  program
    .command("open")
    .description("open the relay's page in your browser")
    .addOption(relayOption)
    .option("--json", "print JSON: the address, and whether a browser was started")
    .addHelpText("after", "\nExamples:\n  matrx open\n  matrx open --relay https://relay.example")
    .action(open);
}

async function open(options: OpenOptions): Promise<void> {
  const url = `${relayOf(options)}/`;
  const opened = await openInBrowser(url);
  if (options.json) return printJson({ url, opened });
  console.log(url);
  if (!opened) note("No browser could be started here: open this address yourself.");
}

async function openInBrowser(url: string): Promise<boolean> {
  // Loaded lazily: other commands do not need it.
  const { Desktop } = await import("../../desktop/desktop.ts");
  const desktop = new Desktop();
  try {
    await desktop.open(url, homedir());
    return true;
  } catch (error) {
    if (error instanceof MatrxError) return false;
    throw error;
  } finally {
    desktop.close();
  }
}
