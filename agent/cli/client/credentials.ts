/** Who the caller is, and at which relay: from options, the environment, or what `matrx login` stored. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { RelayClient } from "@matrx/client/http/relay-client.ts";
import { callerError } from "@matrx/shared/errors.ts";
import { isLoopback } from "@matrx/shared/public-url.ts";
import { type Command, Option } from "commander";
import * as z from "zod";
import { type Home, homeOf } from "../../config/app-dirs.ts";
import { readConfig } from "../../config/config.ts";
import { relayUrlSchema } from "../../config/relay-url.ts";
import { readJsonFile, readPrivateFile, writePrivateFile } from "../../platform/private-file.ts";
import { agentHome, startedData } from "../agent-home.ts";
import { usageError } from "../output/failure.ts";
import { relayAt } from "./relay.ts";

const credentialsSchema = z.strictObject({
  /** The relay of the last login. */
  relay: z.string(),
  logins: z.record(
    z.string(),
    z.strictObject({ token: z.string(), account: z.string(), expires: z.string() }),
  ),
});
export type Credentials = z.infer<typeof credentialsSchema>;

export interface CallerOptions {
  relay?: string;
  tokenFile?: string;
}

export const relayOption = new Option("--relay <url>", "the relay's address").env("MATRX_RELAY");
export const tokenFileOption = new Option(
  "--token-file <path>",
  "use the token in this file instead of your login",
).env("MATRX_TOKEN_FILE");

export function withCallerOptions(command: Command): Command {
  return command.addOption(relayOption).addOption(tokenFileOption).option("--json", "print JSON");
}

/** A client of the relay with the caller's token. Throws MatrxError that says how to sign in. */
export function callerOf(options: CallerOptions, home: Home = homeOf()): RelayClient {
  const relay = relayOf(options, home);
  const { tokenFile } = options;
  const token = () => (tokenFile ? tokenIn(tokenFile) : keptToken(home, relay));
  // Without one, say so before anything else.
  token();
  if (tokenFile)
    return relayAt(
      relay,
      token,
      `The token in ${tokenFile} is invalid, or no longer valid: put a new one there`,
    );
  const signIn = `Sign in again: matrx login --relay ${relay}`;
  return relayAt(relay, token, signIn);
}

/** The relay's address. Throws MatrxError if nothing names one. */
export function relayOf(options: CallerOptions, home: Home = homeOf()): string {
  const relay = options.relay ?? readCredentials(home)?.relay ?? readConfig(agentHome())?.relay;
  if (relay === undefined) {
    throw usageError(
      "No relay given",
      "Use --relay https://your-relay or MATRX_RELAY; matrx login remembers the relay you sign in to",
    );
  }
  const parsed = relayUrlSchema.safeParse(relay);
  if (parsed.success) return parsed.data;
  throw usageError(`relay: ${parsed.error.issues[0]?.message}`, `Use an address like ${exampleFor(relay)}`);
}

/** A likely correction: `localhost:8787` only lacks its scheme. */
function exampleFor(relay: string): string {
  const guess = `http://${relay}`;
  const isMeant =
    /^[\w.[\]:-]+(\/|$)/.test(relay) && URL.canParse(guess) && isLoopback(new URL(guess).hostname);
  return isMeant ? guess : "https://relay.example";
}

type Login = Credentials["logins"][string];

/** Stores a login in a file that only this user can read. */
export function keepLogin(home: Home, relay: string, login: Login): void {
  const kept = readCredentials(home);
  writeCredentials(home, { relay, logins: { ...kept?.logins, [relay]: login } });
}

export function keptLogin(home: Home, relay: string): Login | undefined {
  return readCredentials(home)?.logins[relay];
}

/** If this was the default relay, the last of the others becomes it. */
export function forgetLogin(home: Home, relay: string): void {
  const kept = readCredentials(home);
  const { [relay]: _, ...logins } = kept?.logins ?? {};
  const usual = Object.keys(logins).at(-1);
  if (usual === undefined) return rmSync(home.credentialsFile, { force: true });
  writeCredentials(home, { relay: kept && kept.relay in logins ? kept.relay : usual, logins });
}

function writeCredentials(home: Home, credentials: Credentials): void {
  writePrivateFile(home.credentialsFile, `${JSON.stringify(credentials, undefined, 2)}\n`);
}

function readCredentials(home: Home): Credentials | undefined {
  return readJsonFile(home.credentialsFile, credentialsSchema);
}

function keptToken(home: Home, relay: string): string {
  const token = keptLogin(home, relay)?.token ?? tokenOfStart(relay);
  if (token !== undefined) return token;
  throw callerError("UNAUTHENTICATED", `Not signed in to ${relay}`, {
    hint: `Run: matrx login --relay ${relay} (or use --token-file)`,
  });
}

/** Whoever can read what `npm start` keeps in this clone is signed in at its relay, as with the curl line that it prints. */
function tokenOfStart(relay: string): string | undefined {
  const data = startedData();
  if (data === undefined || readConfig(agentHome())?.relay !== relay) return undefined;
  const file = join(data, "authorization");
  return existsSync(file) ? tokenIn(file) : undefined;
}

/** The file contains the token alone, or a header line for curl (`Authorization: Bearer ...`). */
function tokenIn(path: string): string {
  const text = readPrivateFile(path)?.trim();
  const token = text?.replace(/^Authorization:\s*/i, "").replace(/^Bearer\s+/i, "");
  if (token && /^[\w.~+/=-]+$/.test(token)) return token;
  throw usageError(
    text === undefined ? `The file ${path} does not exist` : `${path} doesn't contain a token`,
    "The file must contain a token and nothing else",
  );
}
