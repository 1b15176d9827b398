/** `matrx whoami` and `matrx logout`. */
import { accountViewSchema } from "@matrx/shared/api.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import type { Command } from "commander";
import { homeOf } from "../../config/app-dirs.ts";
import {
  type CallerOptions,
  callerOf,
  forgetLogin,
  keptLogin,
  relayOf,
  relayOption,
  tokenFileOption,
} from "../client/credentials.ts";
import { relayAt } from "../client/relay.ts";
import { plain, printJson } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";
import { SIGNED_IN_BY } from "../output/token-view.ts";

interface AccountOptions extends CallerOptions {
  json?: boolean;
}

export function addAccount(program: Command): void {
  program
    .command("whoami")
    .description("show who you are at the relay")
    .addOption(relayOption)
    .addOption(tokenFileOption)
    .option("--json", "print JSON")
    .addHelpText("after", "\nExamples:\n  matrx whoami\n  matrx whoami --token-file .matrx/authorization")
    .action(whoami);
  program
    .command("logout")
    .description("sign out of a relay")
    .addOption(relayOption)
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  matrx logout")
    .action(logout);
}

async function whoami(options: AccountOptions): Promise<void> {
  const client = callerOf(options);
  const view = await withProgress("Contacting the relay", client.get("/v1/account", accountViewSchema));
  if (options.json) return printJson({ relay: client.relay, ...view });
  const { account, name, kind, person, expires } = view;
  console.log(`${plain(account)} at ${client.relay}`);
  const rights = person ? "" : " (it can't manage tokens, devices or policies)";
  console.log(`by ${SIGNED_IN_BY[kind]} "${plain(name)}" until ${expires.slice(0, 10)}${rights}`);
}

/** Forgets the login even if the relay no longer knows its token. */
async function logout(options: AccountOptions): Promise<void> {
  const home = homeOf();
  const relay = relayOf(options, home);
  const login = keptLogin(home, relay);
  if (!login) {
    if (options.json) return printJson({ status: "signed_out", relay });
    return console.log(`You are not signed in to ${relay}.`);
  }
  try {
    const signOut = relayAt(relay, login.token).send("POST", "/v1/sign-out");
    await withProgress("Signing out", signOut);
  } catch (error) {
    if (!(error instanceof MatrxError) || error.code !== "UNAUTHENTICATED") throw stillValid(error);
  }
  forgetLogin(home, relay);
  if (options.json) return printJson({ status: "signed_out", relay });
  console.log(`Signed out of ${relay}.`);
}

function stillValid(error: unknown): unknown {
  if (!(error instanceof MatrxError)) return error;
  const { message, ...shape } = error.shape();
  return new MatrxError({ ...shape, message: `Not signed out. ${message}` });
}
