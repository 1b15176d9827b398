/** `matrx serve`: this machine's tools at http://localhost, for programs on this machine. */
import type { Command } from "commander";
import { readConfig } from "../config.ts";
import { homeOf, makeHome } from "../home.ts";
import { openLocal } from "../local/open-local.ts";
import { localToken } from "../local/token.ts";
import { monitorSettings } from "../monitors/settings.ts";
import { startMonitors } from "../monitors/start.ts";
import { openReporting } from "../reporting.ts";
import { openToolbox, protectedPaths } from "../toolbox.ts";
import { announce, checkedHost, checkedOrigins, checkedPort } from "./local-options.ts";
import { logFileOption, logLevelOption, logTo } from "./log-options.ts";
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
  const [host, port] = [checkedHost(options.host), checkedPort("--port", options.port)];
  const allowedOrigins = checkedOrigins(options.allowOrigin);
  const home = homeOf();
  makeHome(home);
  const config = readConfig(home);
  const device = config?.device_id ?? "localhost";
  const { log, hub, problems, close } = openReporting({ device, log: logTo(home.localLogFile, options) });
  const toolbox = await openToolbox({ home, jobs: home.localJobs, log });
  const token = options.token ? localToken(home) : undefined;
  try {
    const where = { host, port, token, allowedOrigins };
    const server = await openLocal({ ...where, home, device, toolbox, hub, log });
    const settings = monitorSettings(config?.monitors);
    const monitors = await startMonitors({ settings, hub, problems, protectedPaths: protectedPaths(home) });
    const tokenFile = token === undefined ? undefined : home.localTokenFile;
    announce({ url: server.url, tokenFile, json: options.json ?? false });
    await aborted(stop);
    await Promise.all([server.close(), monitors.close()]);
  } finally {
    toolbox.close();
    close();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
