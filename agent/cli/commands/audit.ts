/** `matrx audit`: shows the account's record, writes it to a file, and proves that nobody changed it. */
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import type { RelayClient } from "@matrx/client/http/relay-client.ts";
import { AUDIT_TYPES, auditPageSchema } from "@matrx/shared/audit.ts";
import { type Command, InvalidArgumentError, Option } from "commander";
import { homeOf } from "../../config/app-dirs.ts";
import { type KeptHead, readKeptHeads } from "../../config/kept-heads.ts";
import { inPlainWords } from "../../platform/private-file.ts";
import { agentHome } from "../agent-home.ts";
import {
  type CallerOptions,
  callerOf,
  relayOption,
  tokenFileOption,
  withCallerOptions,
} from "../client/credentials.ts";
import { findDevice } from "../client/find-device.ts";
import type { Verified } from "../client/record.ts";
import { note, printJson, styled } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";
import { write } from "../output/reader.ts";
import { recordLine } from "../output/record-line.ts";

interface ListOptions extends CallerOptions {
  device?: string;
  grant?: string;
  type?: string;
  limit: string;
  json?: boolean;
}

interface ExportOptions extends CallerOptions {
  format: "jsonl" | "csv";
  output?: string;
}

const EXAMPLES = `
Examples:
  matrx audit list --type denied
  matrx audit verify
  matrx audit export --format csv --output record.csv`;

export function addAudit(program: Command): void {
  const audit = program
    .command("audit")
    .description("show and verify the record of who did what on which device")
    .addHelpText("after", `\nRequires a login (matrx login); tokens cannot read the record.\n${EXAMPLES}`);
  withCallerOptions(audit.command("list").description("show the latest entries, newest first"))
    .option("--device <device>", "only entries about this device: id or name, or the start of one")
    .option("--grant <id>", "only what this grant did, or what was done to it")
    .addOption(new Option("--type <type>", "only entries of this type").choices(AUDIT_TYPES))
    .option("--limit <number>", "how many, at most 500", entriesOf, "50")
    .addHelpText("after", EXAMPLES)
    .action(list);
  withCallerOptions(
    audit.command("verify").description("check that nothing was changed, dropped or reordered"),
  )
    .addHelpText(
      "after",
      `
Fetches the whole record, computes each hash again, and compares the relay's signature and every head that this machine
was given before. If something is wrong, names the first wrong entry and ends with exit code 1.
${EXAMPLES}`,
    )
    .action(verify);
  audit
    .command("export")
    .description("write the whole record to a file")
    .addOption(
      new Option("--format <format>", "JSON lines, or CSV for a spreadsheet")
        .choices(["jsonl", "csv"])
        .default("jsonl"),
    )
    .option("-o, --output <file>", "write to this file instead of the terminal; it must not exist")
    .addOption(relayOption)
    .addOption(tokenFileOption)
    .addHelpText("after", EXAMPLES)
    .action(exportRecord);
}

async function list({ device, grant, type, limit, json, ...options }: ListOptions): Promise<void> {
  const client = callerOf(options);
  const ask = async () => {
    const id = device === undefined ? undefined : await findDevice(client, device);
    const filter = { ...(id && { device: id }), ...(grant && { grant }), ...(type && { type }) };
    return client.get(`/v1/audit?${new URLSearchParams({ limit, ...filter })}`, auditPageSchema);
  };
  const page = await withProgress("Contacting the relay", ask());
  if (json) return printJson(page);
  if (page.entries.length === 0) console.log("The record has no such entries.");
  for (const entry of page.entries) console.log(recordLine(entry));
}

async function verify({ json, ...options }: CallerOptions & { json?: boolean }): Promise<void> {
  const client = callerOf(options);
  const { heads, unreadable } = keptHeads();
  const { verifyRecord } = await import("../client/record.ts");
  const verified = await withProgress("Verifying the record", verifyRecord(client, heads));
  if (verified.fault) process.exitCode = 1;
  if (json) return printJson(verified);
  if (verified.fault) return printFault(verified);
  const { entries, first, last, gaps, compared, others } = verified;
  const range = entries === 0 ? "It is empty." : `${entries} entries, ${first} to ${last.seq}.`;
  console.log(`${styled("green", "The record is in order.")} ${range}`);
  if (gaps > 0)
    console.log(`It says itself that reads may be missing in ${gaps} place${gaps > 1 ? "s" : ""}.`);
  console.log(comparedWords(client, compared));
  if (others > 0) note(`${others} more were signed with keys that this relay does not have: not compared.`);
  if (unreadable > 0) note(`${unreadable} heads kept on this machine could not be read.`);
}

function comparedWords({ relay }: RelayClient, compared: number): string {
  if (compared > 0)
    return `It agrees with ${compared} head${compared > 1 ? "s" : ""} that this machine was given before.`;
  return `This machine has no earlier heads of ${relay}: that the end was not cut off is the relay's own word. Verify on a paired machine too.`;
}

function printFault({ fault }: Verified): void {
  console.error(
    `${styled("red", "The record was tampered with.", process.stderr)} The first wrong entry is ${fault?.seq}: ${fault?.kind}.`,
  );
  console.error(`${fault?.message}.`);
}

async function exportRecord({ format, output, ...options }: ExportOptions): Promise<void> {
  const client = callerOf(options);
  const body = await withProgress(
    "Contacting the relay",
    client.open("/v1/audit/export", { query: { format } }),
  );
  if (output === undefined) {
    for await (const piece of body) await write(process.stdout, piece);
    return;
  }
  try {
    await pipeline(body, createWriteStream(output, { flags: "wx", mode: 0o600 }));
  } catch (error) {
    throw inPlainWords(error);
  }
  note(`Written to ${output}.`);
}

/** Those of this user's own agent, and of the one that `npm start` runs. */
function keptHeads(): { heads: KeptHead[]; unreadable: number } {
  const files = new Set([homeOf().auditHeadsFile, agentHome().auditHeadsFile]);
  const read = [...files].map(readKeptHeads);
  return {
    heads: read.flatMap(({ heads }) => heads),
    unreadable: read.reduce((sum, { unreadable }) => sum + unreadable, 0),
  };
}

function entriesOf(text: string): string {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= 500) return text;
  throw new InvalidArgumentError("must be a number from 1 to 500");
}
