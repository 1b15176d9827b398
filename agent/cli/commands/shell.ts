/** `matrx shell`: a terminal of a device in this one. */

import { constants } from "node:os";
import type { Device } from "@matrx/client/device.ts";
import type { RelayClient } from "@matrx/client/http/relay-client.ts";
import type { DeviceView } from "@matrx/shared/api.ts";
import { callerError, type MatrxError } from "@matrx/shared/errors.ts";
import type { Command } from "commander";
import * as z from "zod";
import { type CallerOptions, callerOf, withCallerOptions } from "../client/credentials.ts";
import { deviceBySocket } from "../client/device.ts";
import { viewDevice } from "../client/find-device.ts";
import { usageError } from "../output/failure.ts";
import { ago, note, oneLine, plain, printJson, printTable } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";
import { stopSignal } from "../run/stop-signal.ts";
import { OwnTerminal } from "../shell/own-terminal.ts";
import { TerminalView, type ViewEnd } from "../shell/terminal-view.ts";

interface ShellOptions extends CallerOptions {
  name?: string;
  list?: boolean;
  close?: string;
  json?: boolean;
}

const listSchema = z.object({
  terminals: z.array(
    z.object({
      terminal: z.string(),
      name: z.string().optional(),
      /** Older agents do not say it. */
      own: z.boolean().default(true),
      shell: z.string(),
      cwd: z.string(),
      started: z.string(),
      viewers: z.number(),
      running: z.boolean(),
      recorded: z.boolean().default(false),
    }),
  ),
});
type Terminal = z.infer<typeof listSchema>["terminals"][number];
const createdSchema = z.object({ terminal: z.string(), recorded: z.boolean().default(false) });
type Opened = Pick<Terminal, "terminal" | "recorded" | "name">;

export function addShell(program: Command): void {
  withCallerOptions(program.command("shell").description("open a terminal on a device, or come back to one"))
    .argument("[device]", "id or name, or the start of one (default: see matrx use)")
    .option("--name <name>", "your terminal of this name, or that of this id; a new one if there is none")
    .option("--list", "list the device's open terminals")
    .option("--close <name>", "end a terminal, with all that runs in it")
    .addHelpText(
      "after",
      `
The shell goes on when you leave or the connection breaks, until it ends or is closed; a lost connection comes back by
itself. Leave with Enter ~ . and go to the next open terminal with Enter ~ n (Enter ~ ? for help).

Exit codes: that of the shell when it ends (128 + n by signal n), 0 when you leave. Otherwise as for matrx call.

Examples:
  matrx shell laptop
  matrx shell laptop --name work
  matrx shell laptop --list
  matrx shell laptop --close work`,
    )
    .action(shell);
}

async function shell(wanted: string | undefined, options: ShellOptions): Promise<void> {
  const client = callerOf(options);
  const device = await withProgress("Contacting the relay", viewDevice(client, wanted));
  const connection = deviceBySocket(client, device.id);
  let opened: Opened;
  try {
    await withProgress("Contacting the device", connection.connect());
    if (options.list) return showList(await openTerminals(connection), options.json ?? false);
    if (options.close !== undefined) return await closeTerminal(connection, options.close);
    if (!process.stdin.isTTY || !process.stdout.isTTY)
      throw usageError("matrx shell needs a terminal", "To run one command, use matrx run");
    opened = await terminalOf(connection, options.name);
  } finally {
    connection.close();
  }
  const end = await show(client, device, opened);
  process.exitCode = end.kind === "ended" ? exitCodeOf(end) : 0;
}

/** As shells tell it of programs that a signal ended. */
function exitCodeOf({ code, signal }: Extract<ViewEnd, { kind: "ended" }>): number {
  if (code !== undefined) return code;
  const known: Readonly<Record<string, number>> = constants.signals;
  // One without a name comes with its number.
  const number = known[signal ?? ""] ?? Number(/^signal (\d+)$/.exec(signal ?? "")?.[1]);
  return Number.isNaN(number) ? 1 : 128 + number;
}

/** Shows it, and the terminals that are chosen from there. */
async function show(client: RelayClient, device: DeviceView, first: Opened): Promise<ViewEnd> {
  const stop = stopSignal();
  for (let opened = first; ; opened = await nextTerminal(client, device, opened)) {
    const { terminal, recorded } = opened;
    if (recorded) note("What this terminal shows is recorded on the machine.");
    const end = await TerminalView.run({ client, device: device.id, terminal, stop });
    if (end.kind === "next" && !stop.aborted) continue;
    const name = oneLine(nameOf(opened));
    if (end.kind !== "ended")
      note(`Left ${name} open. Come back: matrx shell ${oneLine(device.name)} --name ${name}`);
    else if (end.signal !== undefined) note(`The shell was ended by ${plain(end.signal)}`);
    return end;
  }
}

/** One's own open terminal after this one in the device's list; after the last comes the first. Throws MatrxError. */
async function nextTerminal(client: RelayClient, device: DeviceView, { terminal }: Opened): Promise<Opened> {
  const connection = deviceBySocket(client, device.id);
  try {
    const all = (await openTerminals(connection)).filter((one) => one.own || one.terminal === terminal);
    const next = all[(all.findIndex((one) => one.terminal === terminal) + 1) % all.length];
    if (!next) throw noTerminal(terminal);
    note(next.terminal === terminal ? "No other terminal is open there" : `Now in ${oneLine(nameOf(next))}`);
    return next;
  } finally {
    connection.close();
  }
}

async function openTerminals(connection: Device): Promise<Terminal[]> {
  const { metadata } = await connection.call("TerminalList", {});
  return listSchema.parse(metadata).terminals.filter(({ running }) => running);
}

/** The terminal of this name, or a new one. Throws MatrxError. */
async function terminalOf(connection: Device, name: string | undefined): Promise<Opened> {
  const found = name === undefined ? undefined : named(await openTerminals(connection), name);
  if (found) return found;
  const input = { ...OwnTerminal.size, ...(name && { name }) };
  const { metadata } = await connection.call("TerminalCreate", input, { cancelOnDisconnect: true });
  return { ...createdSchema.parse(metadata), name };
}

async function closeTerminal(connection: Device, name: string): Promise<void> {
  const found = named(await openTerminals(connection), name);
  if (!found) throw noTerminal(name);
  const { output } = await connection.call(
    "TerminalClose",
    { terminal: found.terminal },
    { cancelOnDisconnect: true },
  );
  console.log(plain(output));
}

function nameOf({ name, terminal }: Opened): string {
  return name ?? terminal;
}

/** By its id, or by the name of one's own: an AI may have given one of its terminals any name. */
function named(terminals: readonly Terminal[], name: string): Terminal | undefined {
  const ofId = terminals.find(({ terminal }) => terminal === name);
  return ofId ?? terminals.find((one) => one.own && one.name === name);
}

function showList(terminals: readonly Terminal[], json: boolean): void {
  if (json) return printJson({ terminals });
  printTable(
    ["NAME", "ID", "SHELL", "FOLDER", "OPENED", "VIEWERS"],
    terminals.map(({ name = "-", terminal, shell, cwd, started, viewers }) => [
      ...[name, terminal, shell, cwd, ago(started), String(viewers)],
    ]),
  );
}

function noTerminal(name: string): MatrxError {
  return callerError("NOT_FOUND", `No terminal ${plain(name)} is open there`, {
    hint: "matrx shell DEVICE --list shows those that are",
  });
}
