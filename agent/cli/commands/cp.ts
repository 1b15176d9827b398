/** `matrx cp`: copies files between this machine and devices, or between two devices. */

import { join } from "node:path";
import type { Device } from "@matrx/client/device.ts";
import type { RelayClient } from "@matrx/client/http/relay-client.ts";
import { callerError, MatrxError } from "@matrx/shared/errors.ts";
import type { Command } from "commander";
import { homeOf } from "../../config/app-dirs.ts";
import { type CallerOptions, callerOf, withCallerOptions } from "../client/credentials.ts";
import { deviceBySocket } from "../client/device.ts";
import { viewDevice } from "../client/find-device.ts";
import { type Copied, copyFile } from "../copy/copy-file.ts";
import { DeviceCalls } from "../copy/device-calls.ts";
import type { Files } from "../copy/files.ts";
import { localFiles } from "../copy/local-files.ts";
import { type FileCopy, type LeftOutReason, onDevice, type Place, stepsOf } from "../copy/plan.ts";
import { remoteFiles } from "../copy/remote-files.ts";
import { usageError } from "../output/failure.ts";
import { note, oneLine, printJsonLine, styled } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";
import { sizeText, TransferLine, timeText } from "../output/transfer-line.ts";
import { stopSignal } from "../run/stop-signal.ts";

interface CopyOptions extends CallerOptions {
  recursive?: boolean;
  json?: boolean;
}

export function addCp(program: Command): void {
  withCallerOptions(
    program.command("cp").description("copy files to a device, from one, or between two devices"),
  )
    .usage("[options] <source...> <target>")
    .argument("<paths...>", "files or folders, then where they go: a path here, or device:path")
    .option("-r, --recursive", "copy folders with all that is in them; symbolic links are left out")
    .addHelpText(
      "after",
      `
Devices are named by id or name, or the start of one; their paths begin with / or ~/, or are relative to the home folder. A
file appears under its name only once all of it has arrived and its SHA-256 is right. After a broken connection, run the
same command again: it continues where it stopped. An existing file keeps its mode.

Exit codes: 0 copied. Otherwise 64 wrong input, 65 changed while it was copied or left out, 66 not there, 68 unknown device, 69 device
or relay unreachable, 70 internal error, 77 not allowed, 130 stopped by Ctrl-C.

Examples:
  matrx cp laptop:/home/ann/report.pdf .
  matrx cp photo.jpg notes.txt laptop:~/inbox/
  matrx cp -r laptop:projects/site backup/
  matrx cp laptop:data.db server:/srv/data.db`,
    )
    .action(copy);
}

async function copy(paths: readonly string[], options: CopyOptions): Promise<void> {
  const target = paths.at(-1);
  if (target === undefined || paths.length < 2)
    throw usageError("No target given", "Usage: matrx cp SOURCE... TARGET");
  const stop = stopSignal();
  const client = callerOf(options);
  const machines = new Machines(client, stop);
  const show = new Shown(options.json ?? false);
  try {
    const sources = await Promise.all(paths.slice(0, -1).map((word) => machines.placeOf(word)));
    const wish = { sources, target: await machines.placeOf(target), isRecursive: options.recursive ?? false };
    if (!machines.areUsed)
      throw usageError("Neither source nor target is on a device", "Name one as device:path, or use cp");
    let failed: unknown;
    for await (const step of stepsOf(wish)) {
      if (step.kind === "folder") await step.to.files.makeFolder(step.to.path);
      else if (step.kind === "left out") show.leftOut(step.from, step.reason);
      else {
        const error = await copyStep(step, show, stop);
        failed ??= error;
      }
    }
    show.done();
    if (failed !== undefined) throw failed;
    if (show.missed > 0) throw incomplete(show.missed);
  } catch (error) {
    throw stop.aborted ? stopped() : error;
  } finally {
    machines.close();
  }
}

/** Resolves with what went wrong with this file alone: the others are copied all the same. */
async function copyStep(step: FileCopy, show: Shown, stop: AbortSignal): Promise<unknown> {
  const { from, to } = step;
  const source = await from.files.openSource(from.path).catch((error: unknown) => {
    show.failed(step, error);
    return error instanceof MatrxError ? error : Promise.reject(error);
  });
  if (source instanceof MatrxError) return source;
  const sink = to.files.sinkFor(to.path);
  try {
    const began = performance.now();
    const copied = await copyFile(source, sink, (arrived) => show.arrived(step, arrived, source.facts.size));
    show.copied(step, copied, performance.now() - began);
    return undefined;
  } catch (error) {
    const isOfAll = stop.aborted || !(error instanceof MatrxError) || error.code === "UNAVAILABLE";
    if (isOfAll) throw error;
    show.failed(step, error);
    return error;
  } finally {
    await sink.close();
    await source.close();
  }
}

/** This machine, and the devices that are named; each is connected to once. */
class Machines {
  readonly #client: RelayClient;
  readonly #stop: AbortSignal;
  readonly #connections: Device[] = [];
  readonly #devices = new Map<string, Promise<Files>>();

  constructor(client: RelayClient, stop: AbortSignal) {
    this.#client = client;
    this.#stop = stop;
  }

  get areUsed(): boolean {
    return this.#devices.size > 0;
  }

  /** Throws MatrxError. */
  async placeOf(word: string): Promise<Place> {
    const named = onDevice(word);
    if (!named) return { files: localFiles, path: word };
    const { device, path } = named;
    const files = this.#devices.get(device) ?? this.#connect(device);
    this.#devices.set(device, files);
    return { files: await files, path: path === "" ? "~" : path };
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }

  async #connect(wanted: string): Promise<Files> {
    const { id, name, os } = await withProgress("Contacting the relay", viewDevice(this.#client, wanted));
    const connection = deviceBySocket(this.#client, id);
    this.#connections.push(connection);
    await withProgress("Contacting the device", connection.connect());
    const notes = join(homeOf().state, "copies");
    return remoteFiles({ calls: new DeviceCalls(connection, this.#stop), device: { id, name, os }, notes });
  }
}

/** What people and programs are told. */
class Shown {
  readonly #json: boolean;
  readonly #line = new TransferLine();
  readonly #began = performance.now();
  #files = 0;
  #bytes = 0;
  #missed = 0;

  constructor(json: boolean) {
    this.#json = json;
  }

  /** How many were left out that should have been copied: links never are. */
  get missed(): number {
    return this.#missed;
  }

  arrived({ from }: FileCopy, bytes: number, total: number): void {
    this.#line.show(oneLine(from.files.names.nameOf(from.path)), bytes, total);
  }

  copied(step: FileCopy, { bytes, resumed, sha256 }: Copied, ms: number): void {
    this.#line.clear();
    this.#files++;
    this.#bytes += bytes - resumed;
    const [from, to] = namesOf(step);
    if (this.#json)
      return printJsonLine({ state: "copied", from, to, bytes, resumed, sha256: sha256 ?? null });
    const rate = sizeText(Math.round((bytes - resumed) / Math.max(0.001, ms / 1000)));
    const rest = resumed > 0 ? `, continued at ${sizeText(resumed)}` : "";
    note(`${oneLine(from)} -> ${oneLine(to)}: ${sizeText(bytes)}, ${rate}/s${rest}`);
  }

  failed(step: FileCopy, error: unknown): void {
    this.#line.clear();
    if (!(error instanceof MatrxError)) return;
    const [from, to] = namesOf(step);
    if (this.#json) return printJsonLine({ state: "failed", from, to, error: error.shape() });
    console.error(`${styled("red", `${oneLine(from)}:`, process.stderr)} ${oneLine(error.message)}`);
  }

  leftOut({ files, path }: Place, reason: LeftOutReason): void {
    if (reason !== "link") this.#missed++;
    const from = files.shown(path);
    if (this.#json) printJsonLine({ state: "left_out", from, reason });
    else note(`${oneLine(from)}: left out, ${WHY_LEFT_OUT[reason]}`);
  }

  done(): void {
    const seconds = (performance.now() - this.#began) / 1000;
    if (this.#json) printJsonLine({ state: "done", files: this.#files, bytes: this.#bytes });
    else if (this.#files > 1) note(`${this.#files} files, ${sizeText(this.#bytes)} in ${timeText(seconds)}`);
  }
}

const WHY_LEFT_OUT: Readonly<Record<LeftOutReason, string>> = {
  link: "it is a symbolic link",
  name: "no file can have its name there, or no path can name it here",
  kind: "it is neither a file nor a folder",
};

function namesOf({ from, to }: FileCopy): [from: string, to: string] {
  return [from.files.shown(from.path), to.files.shown(to.path)];
}

function incomplete(count: number): MatrxError {
  const what = count === 1 ? "1 entry was" : `${count} entries were`;
  return callerError("CONFLICT", `${what} left out; all others are copied`, {
    hint: "Rename what was left out, or copy it by name",
  });
}

function stopped(): MatrxError {
  return callerError("CANCELLED", "Stopped", { hint: "Run it again to continue where it stopped" });
}
