/** `matrx open`: opens the relay's page, or a web server of a device, in the browser. */

import { pathOf } from "@matrx/client/http/relay-client.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import { portLinkSchema } from "@matrx/shared/port-link-api.ts";
import type { Command } from "commander";
import { type CallerOptions, callerOf, relayOf, withCallerOptions } from "../client/credentials.ts";
import { findDevice } from "../client/find-device.ts";
import { usageError } from "../output/failure.ts";
import { note, plain, printJson } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";
import { checkedPort } from "../run/options.ts";

interface OpenOptions extends CallerOptions {
  minutes?: string;
  browser: boolean;
  json?: boolean;
}

export function addOpen(program: Command): void {
  withCallerOptions(
    program
      .command("open")
      .description("open the relay's page, or a web server of a device, in your browser"),
  )
    .usage("[options] [[device] <port>]")
    .argument("[device]", "id or name, or the start of one (default: see matrx use)")
    .argument("[port]", "the port on which the web server listens on the device")
    .option("--minutes <number>", "how long the browser may use the port, at most 10080 (default: 60)")
    .option("--no-browser", "only print the address")
    .addHelpText(
      "after",
      `
A web server opens at an address of its own. The address works once, within two minutes: the browser that opens it may use
the port until the time is over. End it sooner like a token: matrx token revoke.

Examples:
  matrx open
  matrx open laptop 5173
  matrx open laptop 8080 --minutes 480 --no-browser`,
    )
    .action((device: string | undefined, port: string | undefined, options: OpenOptions) => {
      if (device === undefined) return openPage(options);
      return port === undefined ? openPort(undefined, device, options) : openPort(device, port, options);
    });
}

async function openPage(options: OpenOptions): Promise<void> {
  if (options.minutes !== undefined)
    throw usageError("--minutes is for a port", "Usage: matrx open DEVICE PORT");
  await show({ url: `${relayOf(options)}/` }, options);
}

async function openPort(wanted: string | undefined, word: string, options: OpenOptions): Promise<void> {
  const wish = { port: checkedPort("The port", word), ...minutesOf(options) };
  const client = callerOf(options);
  const device = await withProgress("Contacting the relay", findDevice(client, wanted));
  const link = await client.post(pathOf("v1", "devices", device, "port-links"), portLinkSchema, wish);
  await show(link, options);
  if (options.json) return;
  note(`It works once, within two minutes; then until ${link.expires.slice(0, 16)}Z.`);
  note(`End it sooner: matrx token revoke ${link.id}`);
}

async function show<Shown extends { url: string }>(
  shown: Shown,
  { browser, json }: OpenOptions,
): Promise<void> {
  const opened = browser && (await openInBrowser(shown.url));
  if (json) return printJson({ ...shown, opened });
  console.log(shown.url);
  if (browser && !opened) note("No browser could be started here: open this address yourself.");
}

/** Throws MatrxError. */
function minutesOf({ minutes: text }: OpenOptions): { minutes?: number } {
  if (text === undefined) return {};
  const minutes = Number(text);
  if (Number.isInteger(minutes) && minutes >= 1 && minutes <= 10_080) return { minutes };
  throw usageError(`--minutes: ${plain(text)} is not a number from 1 to 10080`, "Example: --minutes 60");
}

async function openInBrowser(url: string): Promise<boolean> {
  // Loaded lazily: other commands do not need it.
  const { Desktop } = await import("../../desktop/desktop.ts");
  const desktop = new Desktop();
  try {
    await desktop.open(url, await desktop.ownSurroundings());
    return true;
  } catch (error) {
    if (error instanceof MatrxError) return false;
    throw error;
  } finally {
    desktop.close();
  }
}
