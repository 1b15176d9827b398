/** `matrx serve`: this machine's tools at http://localhost, for programs on this machine. */
import type { Command } from "commander";
import { readConfig } from "../config.ts";
import { Dispatcher } from "../dispatch.ts";
import { homeOf, makeHome } from "../home.ts";
import { openJournal } from "../journal.ts";
import { LocalCalls } from "../local/local-calls.ts";
import { startLocalServer } from "../local/server.ts";
import { localToken } from "../local/token.ts";
import { makeLog } from "../log.ts";
import { PolicyFile } from "../policy-file.ts";
import { isLoopback } from "../relay-url.ts";
import { openToolbox } from "../toolbox.ts";
import { wrongUse } from "./failure.ts";
import { logFileOption, logLevelOption, logTo } from "./log-options.ts";
import { printJsonLine, styled } from "./print.ts";
import { stopSignal } from "./stop-signal.ts";

interface ServeOptions {
  port: string;
  host: string;
  token: boolean;
  allowOrigin: string[];
  logFile?: string;
  logLevel?: string;
  json?: boolean;
}

export function addServe(program: Command): void {
  program
    .command("serve")
    .description("serve this machine's tools at http://localhost, until Ctrl-C")
    .option("--port <number>", "where to listen; 0 takes any free port", "8000")
    .option("--host <address>", "an address of this machine alone", "127.0.0.1")
    .option("--no-token", "let every program on this machine call, without a token")
    .option("--allow-origin <origin...>", "let pages of this origin call, such as https://app.example", [])
    .addOption(logFileOption)
    .addOption(logLevelOption)
    .option("--json", "print where it listens as a JSON line")
    .addHelpText(
      "after",
      `
Examples:
  matrx serve
  matrx serve --port 8123 --allow-origin https://app.example
  sed 's/^/Authorization: Bearer /' TOKEN_FILE | curl -sS -H @- http://localhost:8000/tools/list`,
    )
    .action(serve);
}

async function serve(options: ServeOptions): Promise<void> {
  const stop = stopSignal();
  const { port, host, allowedOrigins } = checked(options);
  const home = homeOf();
  makeHome(home);
  const log = makeLog(logTo(home.localLogFile, options));
  const journal = openJournal(home.localJournalFile, log);
  const toolbox = await openToolbox({ home, jobs: home.localJobs, log });
  const shared = {
    device: readConfig(home)?.device_id ?? "localhost",
    tools: toolbox.tools,
    sessions: toolbox.sessions,
    policy: new PolicyFile(home),
    log,
  };
  const calls = new LocalCalls({
    device: shared.device,
    toolNames: toolbox.tools.map((tool) => tool.name),
    dispatcher: new Dispatcher(shared),
    keyedDispatcher: new Dispatcher({ ...shared, journal }),
  });
  try {
    const token = options.token ? localToken(home) : undefined;
    const server = await startLocalServer({ host, port, token, allowedOrigins, calls, log });
    announce(server.url, token === undefined ? undefined : home.localTokenFile, options.json ?? false);
    await aborted(stop);
    await calls.stopAll("The local server was stopped");
    await server.close();
  } finally {
    toolbox.close();
    journal.close();
  }
}

function checked({ port, host, allowOrigin }: ServeOptions) {
  const number = Number(port);
  if (!/^\d+$/.test(port) || number > 65_535)
    throw wrongUse(`--port: "${port}" is no port`, "Give a number from 0 to 65535");
  const address = host === "localhost" ? "127.0.0.1" : host.replace(/^\[|\]$/g, "");
  if (!isLoopback(address.includes(":") ? `[${address}]` : address)) {
    throw wrongUse(
      `--host: ${host} could be reached from other machines`,
      "Use 127.0.0.1 or ::1; for other machines there is the relay (matrx up)",
    );
  }
  for (const origin of allowOrigin) {
    if (URL.parse(origin)?.origin !== origin) {
      throw wrongUse(
        `--allow-origin: "${origin}" is no origin`,
        "Give scheme, host and port alone, such as https://app.example",
      );
    }
  }
  return { port: number, host: address, allowedOrigins: allowOrigin };
}

function announce(url: string, tokenFile: string | undefined, json: boolean): void {
  if (tokenFile === undefined) {
    const warning = "Warning: no token is asked for, so every program on this machine can run these tools.";
    console.error(styled("yellow", warning, process.stderr));
  }
  if (json)
    return printJsonLine({
      url,
      web_socket: `${url.replace(/^http/, "ws")}/ws`,
      token_file: tokenFile ?? null,
    });
  console.log(
    `Serving this machine's tools at ${url} (WebSocket: ${url.replace(/^http/, "ws")}/ws). Ctrl-C stops it.`,
  );
  if (tokenFile === undefined) return;
  // Through a pipe: an argument would show the token in the list of processes.
  const file = `'${tokenFile.replaceAll("'", "'\\''")}'`;
  console.log(`The token is in ${tokenFile}. Try:\n`);
  console.log(`  sed 's/^/Authorization: Bearer /' ${file} | curl -sS -H @- ${url}/tools/list`);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
