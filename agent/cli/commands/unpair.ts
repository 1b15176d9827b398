/** `matrx unpair`: removes this machine from your account. */
import { renameSync, rmSync } from "node:fs";
import { pathOf } from "@matrx/client/http/relay-client.ts";
import { callerError, MatrxError } from "@matrx/shared/errors.ts";
import type { Command } from "commander";
import { type Home, homeOf } from "../../config/app-dirs.ts";
import { type Config, readConfig } from "../../config/config.ts";
import { callerOf } from "../client/credentials.ts";
import { askYesNo, requireAnswer } from "../output/ask.ts";
import { note, plain, printJson } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";
import { asTyped } from "../program-name.ts";
import { stopSignal } from "../run/stop-signal.ts";

interface UnpairOptions {
  yes?: boolean;
  json?: boolean;
}

export function addUnpair(program: Command): void {
  program
    .command("unpair")
    .description("remove this machine from your account, and forget its key")
    .option("--yes", "do not ask")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
If you are signed in here (matrx login), it is also removed at the relay. Otherwise remove it on the relay's page.

Examples:
  matrx unpair
  matrx unpair --yes --json`,
    )
    .action(unpair);
}

async function unpair(options: UnpairOptions): Promise<void> {
  const home = homeOf();
  const config = readConfig(home);
  if (!config) {
    if (options.json) return printJson({ status: "unpaired", device_id: null });
    return console.log("This machine is not paired.");
  }
  const { device_id, name, relay } = config;
  if (!options.yes) {
    requireAnswer("Add --yes to unpair without being asked");
    const question = `Remove ${plain(name)} (${device_id}) from your account at ${relay}?`;
    if (!(await askYesNo(question, stopSignal()))) throw kept();
  }
  const removed = await withProgress("Contacting the relay", removeAtRelay(config, home));
  forget(home, config);
  if (options.json) return printJson({ status: "unpaired", device_id, relay, removed_at_relay: removed });
  console.log(`${plain(name)} is no longer paired.`);
  if (!removed)
    note(
      asTyped(
        `${relay} may still list it: remove it there on the page, or with matrx devices remove ${device_id}`,
      ),
    );
}

/** Returns false if nobody who may do that is signed in here, or the relay is unreachable. Throws MatrxError. */
async function removeAtRelay({ relay, device_id }: Config, home: Home): Promise<boolean> {
  try {
    await callerOf({ relay }, home).send("DELETE", pathOf("v1", "devices", device_id));
    return true;
  } catch (error) {
    const code = error instanceof MatrxError ? error.code : undefined;
    if (code === "UNKNOWN_DEVICE") return true;
    if (code === "UNAUTHENTICATED" || code === "PERMISSION_DENIED" || code === "UNAVAILABLE") return false;
    throw error;
  }
}

/** Deletes configuration and key. Keeps a copy of the configuration if the owner put settings into it. */
function forget(home: Home, { monitors, log_level }: Config): void {
  if (monitors || log_level) renameSync(home.configFile, `${home.configFile}.old`);
  rmSync(home.configFile, { force: true });
  rmSync(home.keyFile, { force: true });
}

function kept(): MatrxError {
  return callerError("CANCELLED", "Nothing was changed");
}
