/** `matrx login`: signs in as the person who confirms. */
import { hostname, userInfo } from "node:os";
import { startedPairingSchema } from "@matrx/shared/api.ts";
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import type { Command } from "commander";
import { homeOf } from "../../config/app-dirs.ts";
import { prepareHome } from "../agent-home.ts";
import { awaitConfirmation, showCode } from "../client/await-confirmation.ts";
import { type CallerOptions, keepLogin, relayOf, relayOption } from "../client/credentials.ts";
import { relayAt } from "../client/relay.ts";
import { plain, printJsonLine } from "../output/print.ts";
import { stopSignal } from "../run/stop-signal.ts";

interface LoginOptions extends CallerOptions {
  name?: string;
  json?: boolean;
}

export function addLogin(program: Command): void {
  program
    .command("login")
    .description("sign in to a relay")
    .addOption(relayOption)
    .option("--name <name>", "what to call this login in your account")
    .option("--json", "print JSON lines: first the code, then the account")
    .addHelpText("after", "\nExample:\n  matrx login --relay https://relay.example")
    .action(login);
}

async function login(options: LoginOptions): Promise<void> {
  const home = homeOf();
  const json = options.json ?? false;
  const relay = relayOf(options, home);
  const stop = stopSignal();
  const client = relayAt(relay);
  const name = options.name ?? `matrx, ${userInfo().username} on ${hostname()}`.slice(0, 64);
  const started = await client.post("/v1/logins", startedPairingSchema, { name });
  showCode(started, { json, facts: {} });
  const confirmed = await awaitConfirmation(client, started, stop);
  if (confirmed.status !== "signed_in") throw notALogin();
  const { token, account, expires } = confirmed;
  prepareHome(home);
  keepLogin(home, relay, { token, account, expires });
  if (json) return printJsonLine({ status: "signed_in", relay, account, expires });
  console.log(`Signed in to ${relay} as ${plain(account)} until ${expires.slice(0, 10)}.`);
}

function notALogin(): MatrxError {
  return relayError("CONFLICT", "The relay answered with a pairing instead of a login", {
    hint: "Run the command again",
  });
}
