/** Makes this machine a device of an account. */
import { hostname } from "node:os";
import { startedPairingSchema } from "@matrx/shared/api.ts";
import { callerError, type MatrxError, relayError } from "@matrx/shared/errors.ts";
import type { Home } from "../../config/app-dirs.ts";
import { type Config, readConfig, writeConfig } from "../../config/config.ts";
import { fingerprintOf, makeIdentity, writeIdentity } from "../../config/identity.ts";
import { describeMachine } from "../../platform/machine.ts";
import { prepareHome } from "../agent-home.ts";
import { awaitConfirmation, showCode } from "../client/await-confirmation.ts";
import { type CallerOptions, relayOf } from "../client/credentials.ts";
import { relayAt } from "../client/relay.ts";
import { askYesNo, requireAnswer } from "../output/ask.ts";
import { plain } from "../output/print.ts";

export interface PairOptions extends CallerOptions {
  name?: string;
  yes?: boolean;
  replace?: boolean;
  json?: boolean;
}

/** Shows the code, waits until it is confirmed, asks, and stores the key. Throws MatrxError. */
export async function pairMachine(home: Home, options: PairOptions, stop: AbortSignal): Promise<Config> {
  const { replace = false, json = false, yes = false } = options;
  const kept = readForPairing(home, replace);
  const relay = relayOf(options.relay || !kept ? options : { relay: kept.relay }, home);
  if (!yes) requireAnswer("Add --yes to accept whichever account approves");
  prepareHome(home);
  const client = relayAt(relay);
  const identity = makeIdentity();
  const name = options.name ?? (hostname().slice(0, 64) || "device");

  const started = await client.post("/v1/pairings", startedPairingSchema, {
    name,
    ...describeMachine(),
    public_key: identity.publicKey,
  });
  showCode(started, { json, facts: { [json ? "fingerprint" : "Key"]: fingerprintOf(identity.publicKey) } });
  const confirmed = await awaitConfirmation(client, started, stop);
  if (confirmed.status !== "paired") throw notAPairing();

  const question = `The account "${plain(confirmed.account)}" approved. Allow it to run tools on this machine?`;
  if (!yes && !(await askYesNo(question, stop))) throw declined(confirmed.device_id);
  writeIdentity(home, identity);
  const config: Config = {
    ...(kept?.log_level && { log_level: kept.log_level }),
    ...(kept?.monitors && { monitors: kept.monitors }),
    relay,
    device_id: confirmed.device_id,
    name: confirmed.name,
    account: confirmed.account,
  };
  writeConfig(home, config);
  return config;
}

/** The present configuration, which may be damaged if `replace` is given. Throws MatrxError if it must not be replaced. */
function readForPairing(home: Home, replace: boolean): Config | undefined {
  let config: Config | undefined;
  try {
    config = readConfig(home);
  } catch (error) {
    if (!replace) throw error;
  }
  if (config && !replace) {
    throw callerError(
      "CONFLICT",
      `This machine is already paired, as ${config.device_id} at ${config.relay}`,
      { hint: "Run matrx up, or add --replace to pair it again" },
    );
  }
  return config;
}

function declined(device: string): MatrxError {
  return callerError("APPROVAL_DENIED", "Not paired: nothing was saved on this machine", {
    hint: `The account still lists ${device}; it can be removed there`,
  });
}

function notAPairing(): MatrxError {
  return relayError("CONFLICT", "The relay answered with a login instead of a pairing", {
    hint: "Run the command again",
  });
}
