/** `matrx share`: devices for people who have another account on the relay, and what they share with you. */

import { pathOf, type RelayClient } from "@matrx/client/http/relay-client.ts";
import { callerError, type MatrxError } from "@matrx/shared/errors.ts";
import { isLoopback } from "@matrx/shared/public-url.ts";
import {
  createdShareSchema,
  type ReceivedShare,
  receivedShareSchema,
  shareListSchema,
} from "@matrx/shared/share-api.ts";
import type { Command } from "commander";
import { type CallerOptions, callerOf, withCallerOptions } from "../client/credentials.ts";
import { type LimitOptions, newShareOf, withLimitOptions } from "../client/token-wish.ts";
import { usageError } from "../output/failure.ts";
import { note, plain, printJson, printTable } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";
import { addShareFile } from "./share-file.ts";

interface ShareOptions extends CallerOptions {
  json?: boolean;
}

interface CreateOptions extends ShareOptions, LimitOptions {
  anyPath?: boolean;
  days: string;
}

export function addShare(program: Command): void {
  const share = program
    .command("share")
    .description("share devices with people on the relay, or a file with anybody")
    .addHelpText(
      "after",
      "\nExamples:\n  matrx share create Ben --device laptop --path '~/photos' --effects read\n  matrx share file ~/report.pdf --hours 24\n  matrx share list\n  matrx share accept 'https://relay.example/#share=...'\n  matrx share leave photos",
    );
  addCreate(share);
  addShareFile(share);
  withCallerOptions(share.command("list").description("list what you share, and what is shared with you"))
    .addHelpText("after", "\nExamples:\n  matrx share list\n  matrx share list --json | jq '.received[].id'")
    .action(listShares);
  withCallerOptions(share.command("accept").description("accept what somebody shares with you"))
    .argument("<link>", "the link, or the code in it")
    .addHelpText("after", "\nExample:\n  matrx share accept 'https://relay.example/#share=...'")
    .action(acceptShare);
  withCallerOptions(share.command("leave").description("give back what somebody shares with you"))
    .argument("<share>", "its id, or its name")
    .addHelpText("after", "\nExample:\n  matrx share leave photos")
    .action(leaveShare);
}

function addCreate(share: Command): void {
  const create = share
    .command("create")
    .description("share devices, and print the link to send (shown only once)");
  withLimitOptions(withCallerOptions(create))
    .argument("<name>", "whom it is for")
    .option("--any-path", "no limit to folders")
    .option("--days <number>", "how long it lasts, at most 365", "90")
    .addHelpText(
      "after",
      `
The person needs an account of their own, and is a guest: never the owner, secrets closed, commands in a sandbox.
Without --ask, nothing is asked. Change or end a share like a token: matrx token change, matrx token revoke.

Examples:
  matrx share create Ben --device laptop --path '~/photos' --effects read
  matrx share create Ben --tag family --any-path --ask write execute --days 7`,
    )
    .action(createShare);
}

async function createShare(name: string, options: CreateOptions): Promise<void> {
  const client = callerOf(options);
  const create = async () =>
    client.post("/v1/shares", createdShareSchema, await newShareOf(client, name, options));
  const share = await withProgress("Contacting the relay", create());
  if (options.json) return printJson(share);
  note(`${plain(share.name)} ${plain(share.summary ?? "")}.`);
  note(`Send this link; it works once, until ${share.link_expires.slice(0, 10)}:`);
  console.log(share.link);
}

async function listShares(options: ShareOptions): Promise<void> {
  const list = await withProgress("Contacting the relay", sharesOf(callerOf(options)));
  if (options.json) return printJson(list);
  const given = list.given.map(({ id, name, shared_with: guest, summary = "", expires }) => [
    ...[name, guest === null ? "to nobody yet" : `to ${guest}`, summary, expires.slice(0, 10), id],
  ]);
  const received = list.received.map(({ id, name, shared_by: by, summary, expires }) => [
    ...[name, `from ${by}`, summary, expires.slice(0, 10), id],
  ]);
  printTable(["NAME", "SHARED", "MAY", "UNTIL", "ID"], [...given, ...received]);
}

async function acceptShare(link: string, options: ShareOptions): Promise<void> {
  const client = callerOf(options);
  const body = { code: codeOf(link, client.relay) };
  const share = await withProgress(
    "Contacting the relay",
    client.post("/v1/shares/accept", receivedShareSchema, body),
  );
  if (options.json) return printJson(share);
  const names = share.devices.map(({ name }) => plain(name)).join(", ") || "no device at present";
  console.log(`${plain(share.shared_by)} shares with you: ${names}. You ${plain(share.summary)}.`);
}

async function leaveShare(wanted: string, options: ShareOptions): Promise<void> {
  const client = callerOf(options);
  const leave = async () => {
    const share = chosenShare((await sharesOf(client)).received, wanted);
    await client.send("DELETE", pathOf("v1", "shares", share.id));
    return share;
  };
  const { id, name } = await withProgress("Contacting the relay", leave());
  if (options.json) return printJson({ status: "left", id, name });
  console.log(`Left ${plain(name)} (${id}).`);
}

function sharesOf(client: RelayClient) {
  return client.get("/v1/shares", shareListSchema);
}

/** The code of a link to this relay, which must not reach another one. Throws MatrxError. */
function codeOf(link: string, relay: string): string {
  const at = link.indexOf("#share=");
  if (at < 0) return link;
  if (!URL.canParse(link) || placeOf(link) !== placeOf(relay))
    throw usageError("The link is of another relay than the one you use", "Name that one with --relay");
  return link.slice(at + "#share=".length);
}

/** The same for all names and ports of this machine, where a relay may be reached by another than it knows. */
function placeOf(address: string): string {
  const { origin, hostname } = new URL(address);
  return isLoopback(hostname) ? "here" : origin;
}

/** By id, or by a name that only one has. Throws MatrxError `NOT_FOUND`. */
function chosenShare(received: readonly ReceivedShare[], wanted: string): ReceivedShare {
  const found = received.filter(({ id, name }) => id === wanted || name === wanted);
  const [share] = found;
  if (share && found.length === 1) return share;
  throw share ? ambiguous(wanted, found) : unknown(wanted);
}

function ambiguous(wanted: string, found: readonly ReceivedShare[]): MatrxError {
  return callerError("NOT_FOUND", `${found.length} shares are named "${wanted}"`, {
    hint: `Give the id of one: ${found.map(({ id }) => id).join(", ")}`,
  });
}

function unknown(wanted: string): MatrxError {
  return callerError("NOT_FOUND", `Nobody shares "${wanted}" with you`, {
    hint: "matrx share list shows what is shared; you end your own with matrx token revoke",
  });
}
