/** Runs `matrx up`, and restarts the program on request. */
import v8 from "node:v8";
import { callerError, MatrxError } from "@matrx/shared/errors.ts";
import { type AgentEnd, startAgent } from "../../agent.ts";
import { type Home, homeOf } from "../../config/app-dirs.ts";
import { type Config, readConfig, requireConfig } from "../../config/config.ts";
import { readIdentity } from "../../config/identity.ts";
import { localToken } from "../../local/token.ts";
import { inPlainWords } from "../../platform/private-file.ts";
import { prepareHome } from "../agent-home.ts";
import { relayOf } from "../client/credentials.ts";
import { usageError } from "../output/failure.ts";
import { isQuietRun, plain, printJsonLine } from "../output/print.ts";
import { announce, checkedOrigins, checkedPort, type LogChoice, logTo, USUAL_PORT } from "./options.ts";
import { type PairOptions, pairMachine } from "./pair-machine.ts";
import { replaceProcess } from "./restart.ts";
import { stopSignal } from "./stop-signal.ts";

export interface UpOptions extends Pick<PairOptions, "relay" | "name" | "yes"> {
  serve?: string | true;
  allowOrigin: string[];
  logFile?: string;
  logLevel?: LogChoice["logLevel"];
  json?: boolean;
}

/** Runs until Ctrl-C. Throws MatrxError if the relay's refusal is final. */
export async function runUp(options: UpOptions): Promise<void> {
  const stop = stopSignal();
  countBuffersWithHeap();
  // Whoever reads our output may go away before us, or their disk may be full.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  const port = portOf(options);
  const allowedOrigins = checkedOrigins(options.allowOrigin);
  const home = homeOf();
  prepareHome(home);
  await pairIfNew(home, options, stop);
  for (;;) {
    const end = await runOnce({ home, port, allowedOrigins, options, stop }).catch((error: unknown) => {
      throw inPlainWords(error);
    });
    if (end instanceof MatrxError) throw end;
    if (end === "stopped" || stop.aborted) return;
    await replaceProcess().catch((error: Error) =>
      console.error(`Couldn't restart the program, so it keeps running: ${error.message}`),
    );
  }
}

/**
 * V8 marks the whole heap anew for every 32 MiB of buffers, 22 times a second while a file arrives, which took as long as
 * moving it (docs/benchmarks.md). Counted with the heap, most buffers go when the young ones are collected. Node 24's V8
 * knows the flags; others may refuse them on stderr.
 */
function countBuffersWithHeap(): void {
  if (process.versions.node.startsWith("24.")) {
    v8.setFlagsFromString("--external-memory-accounted-in-global-limit");
    // Otherwise large answers to several callers at once leave up to 580 MiB here, instead of 430.
    v8.setFlagsFromString("--heap-growing-percent=5");
  }
}

/** Pairs this machine if it is new and somebody can confirm. Throws MatrxError. */
async function pairIfNew(home: Home, options: UpOptions, stop: AbortSignal): Promise<void> {
  const config = readConfig(home);
  if (config) return requireRelay(config, options.relay);
  if (!options.yes && !process.stdin.isTTY) throw notAsked(home, options.relay ?? process.env.MATRX_RELAY);
  const { MATRX_RELAY: usual } = process.env;
  await pairMachine(home, { ...(usual && { relay: usual }), ...options }, stop);
}

/** A service, or a script, that was started before somebody paired the machine. */
function notAsked({ configFile }: Home, relay = "https://your-relay"): MatrxError {
  return callerError("UNKNOWN_DEVICE", `This machine is not paired yet (there is no ${configFile})`, {
    hint:
      `Pairing asks a question, which takes a terminal: run matrx pair --relay ${relay} in one. ` +
      "Without a terminal, matrx up --yes accepts whichever account approves",
  });
}

/** Throws MatrxError if the named relay is not the one this machine is paired with. */
function requireRelay({ relay, device_id }: Config, named: string | undefined): void {
  if (named === undefined || relayOf({ relay: named }) === relay) return;
  throw callerError("CONFLICT", `This machine is paired with ${relay}, as ${device_id}`, {
    hint: `Leave out --relay, or pair it again: matrx pair --replace --relay ${named}`,
  });
}

/** Throws MatrxError. */
function portOf({ serve, allowOrigin }: UpOptions): number | undefined {
  if (serve === undefined && allowOrigin.length > 0) {
    throw usageError("--allow-origin works only with --serve", "Add --serve");
  }
  if (serve === undefined) return undefined;
  return checkedPort("--serve", serve === true ? USUAL_PORT : serve);
}

interface Run {
  home: Home;
  /** Undefined if the tools are not served locally. */
  port: number | undefined;
  allowedOrigins: readonly string[];
  options: UpOptions;
  stop: AbortSignal;
}

/** Runs with the present configuration. */
async function runOnce({ home, port, allowedOrigins, options, stop }: Run): Promise<AgentEnd> {
  const config = requireConfig(home);
  const device = config.device_id;
  const { json = false } = options;
  const onState = json
    ? (state: string) => printJsonLine({ state, device_id: device, relay: config.relay })
    : tellConnection(config);
  const onListening = (url: string) => announce({ url, tokenFile: home.localTokenFile, json });
  const local = port !== undefined && {
    ...{ host: "localhost", port, allowedOrigins, onListening, token: localToken(home) },
  };
  const log = logTo(home.logFile, { ...options, usualLevel: config.log_level });
  const relay = { config, identity: readIdentity(home), onState };
  return await startAgent(
    {
      ...{ home, device, log, relay, monitors: config.monitors, mcpServers: config.mcpServers },
      ...(local && { local }),
    },
    stop,
  );
}

/** Prints when the machine is connected, and when the connection is lost. */
function tellConnection({ name, relay }: Config): (state: string) => void {
  let wasConnected: boolean | undefined;
  const say = (text: string) => {
    if (!isQuietRun()) console.log(text);
  };
  return (state) => {
    if (state === "REGISTERED") {
      const hint = process.stdout.isTTY ? " Ctrl-C stops." : "";
      say(
        wasConnected === undefined ? `Connected as ${plain(name)} at ${relay}.${hint}` : "Connected again.",
      );
      wasConnected = true;
    } else if (state === "RECONNECTING" && wasConnected) {
      wasConnected = false;
      say("Lost the connection. Reconnecting ...");
    }
  };
}
