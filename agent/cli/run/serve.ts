/** Runs `matrx serve`. */
import { startAgent } from "../../agent.ts";
import { homeOf } from "../../config/app-dirs.ts";
import { readConfig } from "../../config/config.ts";
import { localToken } from "../../local/token.ts";
import { prepareHome } from "../agent-home.ts";
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
  const tokenFile = options.token ? home.localTokenFile : undefined;
  const onListening = (url: string) => announce({ url, tokenFile, json: options.json ?? false });
  const token = options.token ? localToken(home) : undefined;
  await startAgent(
    {
      ...{ home, device: config?.device_id ?? "localhost", monitors: config?.monitors },
      mcpServers: config?.mcpServers,
      log: logTo(home.localLogFile, options),
      local: { host, port, token, allowedOrigins, onListening },
    },
    stop,
  );
}
