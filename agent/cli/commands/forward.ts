/** `matrx forward`: makes a port of a device reachable on this machine. */
import type { Device } from "@matrx/client/device.ts";
import { callerError } from "@matrx/shared/errors.ts";
import type { Command } from "commander";
import { type CallerOptions, callerOf, withCallerOptions } from "../client/credentials.ts";
import { deviceBySocket } from "../client/device.ts";
import { viewDevice } from "../client/find-device.ts";
import { type Ended, Forwarder, isTaken } from "../forward/listener.ts";
import { forwardStdio } from "../forward/stdio.ts";
import { usageError } from "../output/failure.ts";
import { note, oneLine, printJsonLine, styled } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";
import { checkedPort } from "../run/options.ts";
import { stopSignal } from "../run/stop-signal.ts";

interface ForwardOptions extends CallerOptions {
  local?: string;
  stdio?: boolean;
  json?: boolean;
}

export function addForward(program: Command): void {
  withCallerOptions(
    program.command("forward").description("reach a port of a device on this machine, until Ctrl-C"),
  )
    .usage("[options] [device] <port>")
    .argument("[device]", "id or name, or the start of one (default: see matrx use)")
    .argument("[port]", "the TCP port on the device's own 127.0.0.1 or ::1")
    .option("--local <port>", "listen on this port (default: the same if it is free); 0 takes any free one")
    .option("--stdio", "join one connection with stdin and stdout, as for ssh's ProxyCommand")
    .addHelpText(
      "after",
      `
It listens on 127.0.0.1 of this machine only; every program here can connect. Each connection is a call of ConnectPort, so
grant, policy (allowed_ports) and record hold for it. A lost connection ends what is open; later ones connect again.

Exit codes: 0 stopped by Ctrl-C, or the connection of --stdio has ended. Otherwise 64 wrong input, 68 unknown device, 69
device, relay or port unreachable, 70 internal error, 75 too many connections, 77 not allowed.

Examples:
  matrx forward laptop 5432
  matrx forward laptop 80 --local 8080
  matrx forward laptop 6379 --local 0 --json
  ssh -o ProxyCommand='matrx forward --stdio laptop 22' ann@laptop
  rsync -a -e "ssh -o ProxyCommand='matrx forward --stdio laptop 22'" photos/ ann@laptop:photos/`,
    )
    .action((device: string | undefined, port: string | undefined, options: ForwardOptions) =>
      port === undefined ? forward(undefined, device, options) : forward(device, port, options),
    );
}

async function forward(
  wanted: string | undefined,
  portWord: string | undefined,
  options: ForwardOptions,
): Promise<void> {
  if (portWord === undefined) throw usageError("No port given", "Usage: matrx forward [DEVICE] PORT");
  const port = devicePort(portWord);
  if (options.stdio && (options.local !== undefined || options.json))
    throw usageError(
      "--stdio stands alone",
      "Leave out --local and --json: stdout carries the connection's bytes",
    );
  const local = options.local === undefined ? undefined : checkedPort("--local", options.local);
  const stop = stopSignal();
  const client = callerOf(options);
  const { id, name } = await withProgress("Contacting the relay", viewDevice(client, wanted));
  const remote = deviceBySocket(client, id);
  stop.addEventListener("abort", () => remote.close(), { once: true });
  try {
    if (options.stdio) return await forwardStdio(remote, port, stop);
    await withProgress("Contacting the device", remote.connect());
    await listenUntil(stop, { remote, device: { id, name }, port, local, json: options.json ?? false });
  } catch (error) {
    throw stop.aborted ? callerError("CANCELLED", "Stopped") : error;
  } finally {
    remote.close();
  }
}

interface Forward {
  readonly remote: Device;
  readonly device: { readonly id: string; readonly name: string };
  readonly port: number;
  readonly local: number | undefined;
  readonly json: boolean;
}

async function listenUntil(stop: AbortSignal, { remote, device, port, local, json }: Forward): Promise<void> {
  const show = json ? new JsonLines() : new Lines();
  const forwarder = new Forwarder({ remote, port, onOpen: show.opened, onEnd: show.ended });
  const stopped = Promise.withResolvers<void>();
  stop.addEventListener("abort", () => stopped.resolve(), { once: true });
  const at = await listenAt(forwarder, port, local);
  show.listening(at, device, port);
  if (!stop.aborted) await stopped.promise;
  await forwarder.close();
  show.done(forwarder.connections);
}

/** Unless the user chose one, a port that is taken gives way to a free one. Throws MatrxError. */
async function listenAt(forwarder: Forwarder, port: number, local: number | undefined): Promise<number> {
  try {
    return await forwarder.listen(local ?? port);
  } catch (error) {
    if (local !== undefined || !isTaken(error)) throw error;
    return await forwarder.listen(0);
  }
}

function devicePort(word: string): number {
  const port = checkedPort("The device's port", word);
  if (port > 0) return port;
  throw usageError("The device's port can't be 0", "Usage: matrx forward [DEVICE] PORT");
}

/** For people. */
class Lines {
  readonly listening = (at: number, { name }: Forward["device"], port: number): void => {
    console.log(`${styled("bold", `127.0.0.1:${at}`)} is port ${port} of ${oneLine(name)}`);
    note("Ctrl-C stops.");
  };
  readonly opened = (connection: number): void => note(`Connection ${connection} is open`);
  readonly ended = (connection: number, ended: Ended): void => {
    if (!("error" in ended))
      return note(`Connection ${connection} has ended: ${ended.sent} bytes sent, ${ended.received} received`);
    const { error } = ended;
    if (!error) return note(`Connection ${connection} was broken off here`);
    console.error(`${styled("red", `Connection ${connection}:`, process.stderr)} ${oneLine(error.message)}`);
    if (error.hint) console.error(oneLine(error.hint));
  };
  readonly done = (connections: number): void => note(`Connections in all: ${connections}`);
}

/** For programs. */
class JsonLines {
  readonly listening = (at: number, { id }: Forward["device"], port: number): void =>
    printJsonLine({ state: "listening", host: "127.0.0.1", port: at, device: id, device_port: port });
  readonly opened = (connection: number): void => printJsonLine({ state: "open", connection });
  readonly ended = (connection: number, ended: Ended): void =>
    printJsonLine(
      "error" in ended
        ? { state: "failed", connection, error: ended.error?.shape() ?? null }
        : { state: "ended", connection, ...ended },
    );
  readonly done = (connections: number): void => printJsonLine({ state: "stopped", connections });
}
