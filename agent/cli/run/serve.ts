/** What `matrx serve` runs. */
import { once } from "node:events";
import { homeOf } from "../../config/app-dirs.ts";
import { readConfig } from "../../config/config.ts";
import { openLocal } from "../../local/open-local.ts";
import { localToken } from "../../local/token.ts";
import { monitorSettings } from "../../monitors/settings.ts";
import { startMonitors } from "../../monitors/start.ts";
import { openReporting } from "../../reporting.ts";
import { openToolbox } from "../../toolbox.ts";
import { prepareHome } from "./agent-home.ts";
import { announce, checkedHost, checkedOrigins, checkedPort, type LogChoice, logTo } from "./options.ts";
import { stopSignal } from "./stop-signal.ts";

export interface ServeOptions {
  port: string;
  host: string;
  token: boolean;
  allowOrigin: string[];
  logFile?: string;
  logLevel?: LogChoice["logLevel"];
  json?: boolean;
}

/** Runs until Ctrl-C. Throws MatrxError. */
export async function runServe(options: ServeOptions): Promise<void> {
  const stop = stopSignal();
  const [host, port] = [checkedHost(options.host), checkedPort("--port", options.port)];
  const allowedOrigins = checkedOrigins(options.allowOrigin);
  const home = homeOf();
  prepareHome(home);
  const config = readConfig(home);
  const device = config?.device_id ?? "localhost";
  const { log, hub, problems, close } = openReporting({ device, log: logTo(home.localLogFile, options) });
  const toolbox = await openToolbox({ home, jobs: home.localJobs, log });
  const token = options.token ? localToken(home) : undefined;
  try {
    const where = { host, port, token, allowedOrigins };
    const server = await openLocal({ ...where, home, device, toolbox, hub, log });
    const settings = monitorSettings(config?.monitors);
    const monitors = await startMonitors({ settings, hub, problems, protectedPaths: toolbox.protectedPaths });
    const tokenFile = token === undefined ? undefined : home.localTokenFile;
    announce({ url: server.url, tokenFile, json: options.json ?? false });
    if (!stop.aborted) await once(stop, "abort");
    await Promise.all([server.close(), monitors.close()]);
  } finally {
    toolbox.close();
    close();
  }
}
