/** `matrx share file`: a link that lets anybody download one file. */

import { pathOf, type RelayClient } from "@matrx/client/http/relay-client.ts";
import { fileLinkSchema } from "@matrx/shared/file-link-api.ts";
import type { Command } from "commander";
import { type CallerOptions, callerOf, withCallerOptions } from "../client/credentials.ts";
import { findDevice } from "../client/find-device.ts";
import { usageError } from "../output/failure.ts";
import { note, plain, printJson } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";

interface FileOptions extends CallerOptions {
  device?: string;
  hours: string;
  json?: boolean;
}

export function addShareFile(share: Command): void {
  withCallerOptions(share.command("file").description("make a link that lets anybody download one file"))
    .argument("<path>", "full path of a file on the device, or of a folder, which comes as a zip")
    .option("--device <device>", "id or name, or the start of one (default: as matrx use says)")
    .option("--hours <number>", "how long the link works, at most 8760", "168")
    .addHelpText(
      "after",
      `
Anybody with the link can download the file in its current state, and nothing else. The link is shown only once. Files
that hold secrets, such as keys and .env files, can't be linked. Revoke a link like a token: matrx token revoke.

Examples:
  matrx share file /home/ann/report.pdf
  matrx share file '~/photos' --device laptop --hours 24`,
    )
    .action(shareFile);
}

async function shareFile(path: string, options: FileOptions): Promise<void> {
  const client = callerOf(options);
  const link = await withProgress("Contacting the device", linkTo(client, path, options));
  if (options.json) return printJson(link);
  note(`Anybody with this link can download ${plain(link.path)} until ${link.expires.slice(0, 16)}Z:`);
  console.log(link.url);
  note(`Revoke it sooner: matrx token revoke ${link.id}`);
}

async function linkTo(client: RelayClient, path: string, { device, hours }: FileOptions) {
  const id = await findDevice(client, device);
  const body = { path, hours: hoursOf(hours) };
  return await client.post(pathOf("v1", "devices", id, "file-links"), fileLinkSchema, body);
}

/** Throws MatrxError. */
function hoursOf(text: string): number {
  const hours = Number(text);
  if (Number.isInteger(hours) && hours >= 1 && hours <= 8760) return hours;
  throw usageError(`--hours: ${plain(text)} is not a number from 1 to 8760`, "Example: --hours 24");
}
