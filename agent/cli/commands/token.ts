/** `matrx token`: makes, shows, changes and revokes tokens for AIs and your own scripts. */

import { pathOf, type RelayClient } from "@matrx/client/http/relay-client.ts";
import { createdTokenSchema, tokenDetailsSchema, tokenListSchema } from "@matrx/shared/token-api.ts";
import { type Command, Option } from "commander";
import { writePrivateFile } from "../../platform/private-file.ts";
import { type CallerOptions, callerOf, withCallerOptions } from "../client/credentials.ts";
import {
  changedTokenOf,
  LIFTABLE,
  type LimitOptions,
  newTokenOf,
  withLimitOptions,
} from "../client/token-wish.ts";
import { note, plain, printJson, printTable, styled } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";
import { chosenToken, tokenRow, tokenText } from "../output/token-view.ts";

interface TokenOptions extends CallerOptions {
  json?: boolean;
}

interface CreateOptions extends TokenOptions, LimitOptions {
  script?: boolean;
  anyPath?: boolean;
  days: string;
  save?: string;
}

interface ChangeOptions extends TokenOptions, LimitOptions {
  name?: string;
  lift?: (typeof LIFTABLE)[number][];
}

const TOKEN = ["<token>", "its id, or its name"] as const;

export function addToken(program: Command): void {
  const token = program
    .command("token")
    .description("create, show, change and revoke tokens for AIs and your own scripts")
    .addHelpText(
      "after",
      "\nExamples:\n  matrx token create helper --path '~/projects'\n  matrx token list\n  matrx token change helper --effects read\n  matrx token revoke helper",
    );
  withCallerOptions(token.command("list").description("list your tokens, logins and browsers"))
    .addHelpText("after", "\nExamples:\n  matrx token list\n  matrx token list --json | jq '.tokens[].id'")
    .action(listTokens);
  withCallerOptions(
    token.command("show").description("say what a token may do, and where its last change is known"),
  )
    .argument(...TOKEN)
    .addHelpText("after", "\nExamples:\n  matrx token show helper\n  matrx token show helper --json")
    .action(showToken);
  addCreate(token);
  addChange(token);
  withCallerOptions(token.command("revoke").description("revoke a token, login or browser; its calls stop"))
    .argument(...TOKEN)
    .addHelpText(
      "after",
      "\nExamples:\n  matrx token revoke helper\n  matrx token revoke grant_4k7m2x9qpatr6w1z",
    )
    .action(revokeToken);
}

function addCreate(token: Command): void {
  const create = token.command("create").description("create a token (shown only once)");
  withLimitOptions(withCallerOptions(create))
    .argument("<name>", "who or what it is for")
    .option("--any-path", "no limit to folders")
    .option("--script", "act as you, unconfined and without questions; for your own scripts, never for an AI")
    .option("--days <number>", "how long it is valid, at most 365", "90")
    .option("--save <file>", "write it to this file, readable only by you, instead of printing it")
    .addHelpText(
      "after",
      `
Without --ask or --no-ask, an AI may read, and you are asked before it writes or runs commands.

Examples:
  matrx token create helper --device laptop --path '~/projects'
  matrx token create reader --path /home/ann/notes --effects read --days 7
  matrx token create builder --tag work --path '~/src' --ask "Bash=git push*" --network api.example.com
  matrx token create backup --script --device laptop --save ~/.backup-token`,
    )
    .action(createToken);
}

function addChange(token: Command): void {
  const change = token
    .command("change")
    .description("narrow or widen a token; open connections follow at once");
  withLimitOptions(withCallerOptions(change))
    .argument(...TOKEN)
    .option("--name <name>", "another name")
    .addOption(new Option("--lift <limit...>", "remove a limit; secrets: close them again").choices(LIFTABLE))
    .option("--days <number>", "how long it is valid from now")
    .addHelpText(
      "after",
      `
Examples:
  matrx token change helper --effects read
  matrx token change helper --path '~/projects' '~/notes' --no-ask
  matrx token change helper --lift tools network --days 7`,
    )
    .action(changeToken);
}

async function listTokens(options: TokenOptions): Promise<void> {
  const list = await withProgress("Contacting the relay", tokensOf(callerOf(options)));
  if (options.json) return printJson({ tokens: list });
  printTable(["NAME", "KIND", "MAY", "UNTIL", "ID"], list.map(tokenRow));
}

async function showToken(wanted: string, options: TokenOptions): Promise<void> {
  const client = callerOf(options);
  const view = await withProgress("Contacting the relay", detailsOf(client, wanted));
  if (options.json) return printJson(view);
  console.log(tokenText(view));
}

async function createToken(name: string, options: CreateOptions): Promise<void> {
  const { save, json } = options;
  const client = callerOf(options);
  const create = async () =>
    client.post("/v1/tokens", createdTokenSchema, await newTokenOf(client, name, options));
  const { token, ...view } = await withProgress("Contacting the relay", create());
  if (save !== undefined) writePrivateFile(save, `Authorization: Bearer ${token}\n`);
  if (json) return printJson(save === undefined ? { token, ...view } : { ...view, file: save });
  if (view.warning !== undefined)
    console.error(styled("yellow", `Warning: ${plain(view.warning)}`, process.stderr));
  if (view.summary !== undefined) note(`${plain(view.name)} ${plain(view.summary)}.`);
  if (save !== undefined) return console.log(`Saved to ${save}, readable only by you.`);
  note(`Token "${plain(view.name)}", valid until ${view.expires.slice(0, 10)}. It is shown only once:`);
  console.log(token);
}

async function changeToken(wanted: string, options: ChangeOptions): Promise<void> {
  const client = callerOf(options);
  const change = async () => {
    const body = await changedTokenOf(client, options);
    const { id } = chosenToken(await tokensOf(client), wanted);
    const answer = await client.send("PATCH", pathOf("v1", "tokens", id), { body });
    return tokenDetailsSchema.parse(answer.body);
  };
  const view = await withProgress("Contacting the relay", change());
  if (options.json) return printJson(view);
  console.log(tokenText(view));
}

async function revokeToken(wanted: string, options: TokenOptions): Promise<void> {
  const client = callerOf(options);
  const revoke = async () => {
    const { id, name } = chosenToken(await tokensOf(client), wanted);
    await client.send("DELETE", pathOf("v1", "tokens", id));
    return { id, name };
  };
  const revoked = await withProgress("Contacting the relay", revoke());
  if (options.json) return printJson({ status: "revoked", ...revoked });
  console.log(`Revoked ${plain(revoked.name)} (${revoked.id}).`);
}

async function detailsOf(client: RelayClient, wanted: string) {
  const { id } = chosenToken(await tokensOf(client), wanted);
  return client.get(pathOf("v1", "tokens", id), tokenDetailsSchema);
}

async function tokensOf(client: RelayClient) {
  return (await client.get("/v1/tokens", tokenListSchema)).tokens;
}
