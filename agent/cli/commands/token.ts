/** `matrx token`: makes, lists and revokes tokens for scripts and models. */
import {
  createdTokenSchema,
  tokenAccessSchema,
  tokenListSchema,
  type tokenViewSchema,
} from "@matrx/shared/api.ts";
import { callerError } from "@matrx/shared/errors.ts";
import { type Command, Option } from "commander";
import type * as z from "zod";
import { writePrivateFile } from "../../platform/private-file.ts";
import { type CallerOptions, callerOf, withCallerOptions } from "../client/credentials.ts";
import { findDevice } from "../client/find-device.ts";
import { pathOf, type RelayClient } from "../client/relay-client.ts";
import { usageError } from "../output/failure.ts";
import { note, plain, printJson, printTable } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";

type TokenView = z.infer<typeof tokenViewSchema>;

interface TokenOptions extends CallerOptions {
  json?: boolean;
}

interface CreateOptions extends TokenOptions {
  access: z.infer<typeof tokenAccessSchema>;
  device?: string[];
  path?: string[];
  days: string;
  save?: string;
}

export function addToken(program: Command): void {
  const token = program
    .command("token")
    .description("create, list and revoke tokens for scripts and models")
    .addHelpText(
      "after",
      "\nExamples:\n  matrx token create backup\n  matrx token list\n  matrx token revoke backup",
    );
  withCallerOptions(token.command("list").description("list your tokens, logins and browsers"))
    .addHelpText("after", "\nExamples:\n  matrx token list\n  matrx token list --json | jq '.tokens[].id'")
    .action(listTokens);
  withCallerOptions(token.command("create").description("create a token (shown only once)"))
    .argument("<name>", "what it is for")
    .addOption(
      new Option("--access <access>", "what it may do: only read, or everything")
        .choices(tokenAccessSchema.options)
        .default("read"),
    )
    .option("--device <device...>", "the devices it is for (default: all of yours)")
    .option("--path <folder...>", "the folders that file tools may use (default: any)")
    .option("--days <number>", "how long it is valid, at most 365", "90")
    .option("--save <file>", "write it to this file, readable only by you, instead of printing it")
    .addHelpText(
      "after",
      `
Examples:
  matrx token create backup --device laptop --path /home/ann/notes
  matrx token create deploy --access full --days 7 --save ~/.deploy-token`,
    )
    .action(createToken);
  withCallerOptions(token.command("revoke").description("revoke a token, login or browser; its calls stop"))
    .argument("<token>", "its id, or its name")
    .addHelpText(
      "after",
      "\nExamples:\n  matrx token revoke backup\n  matrx token revoke grant_4k7m2x9qpatr6w1z",
    )
    .action(revokeToken);
}

async function listTokens(options: TokenOptions): Promise<void> {
  const list = await withProgress("Contacting the relay", tokensOf(callerOf(options)));
  if (options.json) return printJson({ tokens: list });
  printTable(["NAME", "KIND", "ACCESS", "DEVICES", "UNTIL", "ID"], list.map(rowOf));
}

function rowOf({ id, name, kind, access, devices, paths, expires }: TokenView): string[] {
  const folders = paths ? ` in ${paths.join(", ")}` : "";
  const where = devices?.join(", ") ?? "all";
  return [name, KINDS[kind], `${access}${folders}`, where, expires.slice(0, 10), id];
}

const KINDS = { web: "browser", cli: "login", api: "token" } as const;

async function createToken(name: string, options: CreateOptions): Promise<void> {
  const { access, device: wanted, path: paths, save, json } = options;
  const days = Number(options.days);
  if (!Number.isInteger(days))
    throw usageError(`--days: "${options.days}" is not a number of days`, "Give 1 to 365");
  const client = callerOf(options);
  const create = async () => {
    const devices = wanted && (await Promise.all(wanted.map((one) => findDevice(client, one))));
    const wish = { name, access, days, ...(devices && { devices }), ...(paths && { paths }) };
    return client.post("/v1/tokens", createdTokenSchema, wish);
  };
  const { token, ...view } = await withProgress("Contacting the relay", create());
  if (save !== undefined) {
    writePrivateFile(save, `Authorization: Bearer ${token}\n`);
    return json ? printJson({ ...view, file: save }) : console.log(`Saved to ${save}, readable only by you.`);
  }
  if (json) return printJson({ token, ...view });
  note(`Token "${name}", valid until ${view.expires.slice(0, 10)}. It is shown only once:`);
  console.log(token);
}

async function revokeToken(wanted: string, options: TokenOptions): Promise<void> {
  const client = callerOf(options);
  const revoke = async () => {
    const { id, name } = chosen(await tokensOf(client), wanted);
    await client.send("DELETE", pathOf("v1", "tokens", id));
    return { id, name };
  };
  const revoked = await withProgress("Contacting the relay", revoke());
  if (options.json) return printJson({ status: "revoked", ...revoked });
  console.log(`Revoked ${plain(revoked.name)} (${revoked.id}).`);
}

async function tokensOf(client: RelayClient): Promise<TokenView[]> {
  return (await client.get("/v1/tokens", tokenListSchema)).tokens;
}

/** By id, or by a name that only one has, because revoking cannot be undone. */
function chosen(tokens: readonly TokenView[], wanted: string): TokenView {
  const found = tokens.filter(({ id, name }) => id === wanted || name === wanted);
  const [token] = found;
  if (token && found.length === 1) return token;
  throw callerError(
    "NOT_FOUND",
    token ? `${found.length} tokens are named "${wanted}"` : `You have no token "${wanted}"`,
    {
      hint: token
        ? `Give the id of one: ${found.map(({ id }) => id).join(", ")}`
        : "matrx token list shows them",
    },
  );
}
