/** `matrx cloud`: keeps copies of devices' files at the relay for a time, so that they can be fetched while the device is off. */
import { join } from "node:path";
import { pathOf, type RelayClient } from "@matrx/client/http/relay-client.ts";
import {
  type CloudFile,
  cloudCopySchema,
  cloudFileListSchema,
  cloudFileSchema,
} from "@matrx/shared/cloud-file-api.ts";
import { callerError, type MatrxError } from "@matrx/shared/errors.ts";
import type { Command } from "commander";
import { cloudSource, type OnArrived, transfer } from "../client/cloud-store.ts";
import { type CallerOptions, callerOf, withCallerOptions } from "../client/credentials.ts";
import { viewDevice } from "../client/find-device.ts";
import { copyFile } from "../copy/copy-file.ts";
import { LocalSink } from "../copy/local-file.ts";
import { localFiles } from "../copy/local-files.ts";
import { namesOf, OWN_NAMES, type PathNames } from "../copy/path-names.ts";
import { onDevice } from "../copy/plan.ts";
import { usageError } from "../output/failure.ts";
import { note, oneLine, plain, printJson, printTable } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";
import { sizeText, TransferLine } from "../output/transfer-line.ts";
import { stopSignal } from "../run/stop-signal.ts";

interface CloudOptions extends CallerOptions {
  days?: string;
  json?: boolean;
}

const FILE = "id of a file in the cloud store, or its name if only one has it";

export function addCloud(program: Command): void {
  const cloud = program
    .command("cloud")
    .description("keep copies of files at the relay for a time, and fetch them while the device is off")
    .addHelpText("after", "\nExamples:\n  matrx cloud put laptop:/home/ann/report.pdf\n  matrx cloud list");
  withCallerOptions(cloud.command("put").description("send a file of a device to the cloud store"))
    .argument("<source>", "device:path of a file, or of a folder, which is stored as a zip")
    .option("--days <number>", "how long it is kept, at most 30", "7")
    .addHelpText(
      "after",
      `
The file goes from the device to the relay, not through this machine. Stop with Ctrl-C: then nothing of it stays.

Examples:
  matrx cloud put laptop:/home/ann/report.pdf
  matrx cloud put laptop:photos --days 30`,
    )
    .action(put);
  withCallerOptions(cloud.command("list").description("list the files in the cloud store"))
    .addHelpText("after", "\nExamples:\n  matrx cloud list\n  matrx cloud list --json | jq '.files[].id'")
    .action(list);
  withCallerOptions(cloud.command("get").description("fetch a file from the cloud store"))
    .argument("<file>", FILE)
    .argument("[target]", "a path here, or device:path (default: its name, here)")
    .addHelpText(
      "after",
      `
It stays in the store. To a device it goes from the relay, not through this machine. A download that broke off is continued
by the same command.

Examples:
  matrx cloud get report.pdf
  matrx cloud get cloud_4k7m2x9qpatr6w1z server:/srv/report.pdf`,
    )
    .action(get);
  withCallerOptions(cloud.command("rm").description("remove files from the cloud store"))
    .argument("<files...>", FILE)
    .addHelpText("after", "\nExamples:\n  matrx cloud rm report.pdf\n  matrx cloud rm cloud_4k7m2x9qpatr6w1z")
    .action(remove);
}

async function put(source: string, options: CloudOptions): Promise<void> {
  const client = callerOf(options);
  const signal = stopSignal();
  const { device, path } = onDevice(source) ?? unnamed(source);
  const days = daysOf(options.days ?? "");
  const line = new TransferLine();
  const { id, os } = await withProgress("Contacting the relay", viewDevice(client, device));
  const body = { path: fullPath(path, namesOf(os)), days };
  const wish = { path: pathOf("v1", "devices", id, "cloud-files"), body, signal };
  const onArrived: OnArrived = (bytes, total) => line.show(oneLine(source), bytes, total);
  const file = await stoppable(signal, transfer(client, cloudFileSchema, { ...wish, onArrived })).finally(
    () => line.clear(),
  );
  if (options.json) return printJson(file);
  note(`${oneLine(source)} is in the cloud store until ${dayOf(file.expires)}: ${sizeText(file.size ?? 0)}`);
  console.log(file.id);
}

async function list(options: CloudOptions): Promise<void> {
  const client = callerOf(options);
  const listed = await withProgress(
    "Contacting the relay",
    client.get("/v1/cloud-files", cloudFileListSchema),
  );
  if (options.json) return printJson(listed);
  const { files, bytes, max_bytes } = listed;
  if (files.length === 0)
    return note("The cloud store is empty. Send a file there: matrx cloud put DEVICE:PATH");
  printTable(["NAME", "SIZE", "FROM", "UNTIL", "ID"], files.map(rowOf));
  note(`${sizeText(bytes)} of ${sizeText(max_bytes)}`);
}

function rowOf({ name, state, size, arrived, device, expires, id }: CloudFile): string[] {
  const shown = state === "stored" ? sizeText(size ?? 0) : `${sizeText(arrived)}, arriving`;
  return [oneLine(name), shown, device, dayOf(expires), id];
}

async function get(wanted: string, target: string | undefined, options: CloudOptions): Promise<void> {
  const client = callerOf(options);
  const signal = stopSignal();
  const file = await withProgress("Contacting the relay", fileNamed(client, wanted));
  const place = target === undefined ? undefined : onDevice(target);
  const got = place
    ? getThere(client, file, { ...place, signal })
    : getHere(client, file, { target, signal });
  const { path, sha256 } = await stoppable(signal, got);
  if (options.json) return printJson({ id: file.id, path, sha256, bytes: file.size });
  note(`${oneLine(file.name)} -> ${oneLine(target ?? path)}: ${sizeText(file.size ?? 0)}`);
}

/** From the relay to a device. */
async function getThere(
  client: RelayClient,
  file: CloudFile,
  { device, path, signal }: { device: string; path: string; signal: AbortSignal },
): Promise<{ path: string; sha256: string }> {
  const { id, os } = await viewDevice(client, device);
  const names = namesOf(os);
  const isFolder = path === "" || names.endsLikeFolder(path);
  if (isFolder) requireName(file, names);
  const whole = isFolder ? `${path}${file.name}` : path;
  const line = new TransferLine();
  return transfer(client, cloudCopySchema, {
    path: pathOf("v1", "devices", id, "cloud-copies"),
    body: { file: file.id, path: fullPath(whole, names), create_directories: true },
    ...{ signal, onArrived: (bytes, total) => line.show(oneLine(file.name), bytes, total) },
  }).finally(() => line.clear());
}

async function getHere(
  client: RelayClient,
  file: CloudFile,
  { target = ".", signal }: { target?: string | undefined; signal: AbortSignal },
): Promise<{ path: string; sha256: string | undefined }> {
  const isFolder = (await localFiles.kindOf(target)) === "directory";
  if (isFolder) requireName(file, OWN_NAMES);
  const path = isFolder ? join(target, file.name) : target;
  const [source, sink, line] = [cloudSource(client, file, signal), new LocalSink(path), new TransferLine()];
  try {
    const { sha256 } = await copyFile(source, sink, (bytes) =>
      line.show(oneLine(file.name), bytes, source.facts.size),
    );
    return { path, sha256 };
  } finally {
    line.clear();
    await sink.close();
  }
}

async function remove(wanted: readonly string[], options: CloudOptions): Promise<void> {
  const client = callerOf(options);
  for (const one of wanted) {
    const { id, name } = await withProgress("Contacting the relay", fileNamed(client, one));
    await client.send("DELETE", pathOf("v1", "cloud-files", id));
    note(`${oneLine(name)} (${id}) is removed from the cloud store`);
  }
  if (options.json) printJson({ removed: wanted.length });
}

/** Throws MatrxError unless exactly one file matches. */
async function fileNamed(client: RelayClient, wanted: string): Promise<CloudFile> {
  const { files } = await client.get("/v1/cloud-files", cloudFileListSchema);
  const found = files.filter(({ id, name }) => id === wanted || name === wanted);
  const [file] = found;
  if (file && found.length === 1) return file;
  const message = file
    ? `${found.length} files in the cloud store are named "${plain(wanted)}"`
    : `The cloud store has no file "${plain(wanted)}"`;
  const hint = file
    ? `Give the id of one: ${found.map(({ id }) => id).join(", ")}`
    : "matrx cloud list shows them";
  throw callerError("NOT_FOUND", message, { hint });
}

function unnamed(source: string): never {
  throw usageError(`${plain(source)} names no device`, "Usage: matrx cloud put DEVICE:PATH");
}

/** Relative paths are relative to the home folder, as for `matrx cp`. */
function fullPath(path: string, names: PathNames): string {
  return names.isFull(path) ? path : `~/${path}`;
}

/** A device chose the name: it may not lead elsewhere. */
function requireName({ name }: CloudFile, names: PathNames): void {
  if (names.isName(name)) return;
  throw usageError(`${plain(name)} can't be the name of a file there`, "Name the target: a path and a name");
}

function daysOf(text: string): number {
  const days = Number(text);
  if (Number.isInteger(days) && days >= 1 && days <= 30) return days;
  throw usageError(`--days: ${plain(text)} is not a number from 1 to 30`, "Example: --days 14");
}

function dayOf(iso: string): string {
  return `${iso.slice(0, 16)}Z`.replace("T", " ");
}

function stoppable<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  return work.catch((error: unknown) => {
    throw signal.aborted ? stopped() : error;
  });
}

function stopped(): MatrxError {
  return callerError("CANCELLED", "Stopped", {
    hint: "Run it again to start over, or to continue a download",
  });
}
