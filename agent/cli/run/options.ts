/** What `matrx up` and `matrx serve` share: options of the log and the local server, and the server's announcement. */
import { isLoopback } from "@matrx/shared/public-url.ts";
import { Option } from "commander";
import { LOG_LEVELS } from "../../config/config.ts";
import type { LogOptions } from "../../log/log.ts";
import { usageError } from "../output/failure.ts";
import { printJsonLine, styled } from "../output/print.ts";

/** Where the guide expects the local server. */
export const USUAL_PORT = "8000";

export const logFileOption = new Option(
  "--log-file <path>",
  "write the log to this file instead of printing it",
);
export const logLevelOption = new Option(
  "--log-level <level>",
  "how much to log (default: info in the file, warnings on the screen)",
).choices(LOG_LEVELS);

type Level = (typeof LOG_LEVELS)[number];

export interface LogChoice {
  logFile?: string | undefined;
  /** From the command line. */
  logLevel?: Level | undefined;
  /** From the configuration. */
  usualLevel?: Level | undefined;
}

/** Writes the log to its usual file and prints warnings; or only writes it to the file that was named. */
export function logTo(usual: string, { logFile, logLevel, usualLevel }: LogChoice): LogOptions {
  const printed = logFile === undefined ? (logLevel ?? "warn") : undefined;
  return { level: logLevel ?? usualLevel, file: logFile ?? usual, printed };
}

/** Throws MatrxError. */
export function checkedPort(option: string, port: string): number {
  const number = Number(port);
  if (/^\d+$/.test(port) && number <= 65_535) return number;
  throw usageError(`${option}: "${port}" is not a port`, "Use a number from 0 to 65535");
}

/** An address of this machine alone, or `localhost` for all of them. Throws MatrxError. */
export function checkedHost(host: string): string {
  const address = host.replace(/^\[|\]$/g, "");
  if (isLoopback(address.includes(":") ? `[${address}]` : address)) return address;
  throw usageError(
    `--host: other machines could reach ${host}`,
    "Use localhost, 127.0.0.1 or ::1. To reach this machine from others, use the relay: matrx up",
  );
}

/** Throws MatrxError. */
export function checkedOrigins(origins: readonly string[]): readonly string[] {
  const wrong = origins.find((origin) => URL.parse(origin)?.origin !== origin);
  if (wrong === undefined) return origins;
  throw usageError(
    `--allow-origin: "${wrong}" is not an origin`,
    "Use scheme, host and port only, such as https://app.example",
  );
}

export interface Announcement {
  readonly url: string;
  /** Undefined if no token is required. */
  readonly tokenFile: string | undefined;
  readonly json: boolean;
}

export function announce({ url, tokenFile, json }: Announcement): void {
  const webSocket = `${url.replace(/^http/, "ws")}/ws`;
  if (tokenFile === undefined) {
    const warning = "Warning: no token is required, so any program on this machine can run these tools.";
    console.error(styled("yellow", warning, process.stderr));
  }
  if (json) return printJsonLine({ url, web_socket: webSocket, token_file: tokenFile ?? null });
  console.log(`Serving this machine's tools at ${url} (WebSocket: ${webSocket}). Ctrl-C stops.`);
  if (tokenFile === undefined) return;
  // Through a pipe, because arguments show in the process list.
  const file = `'${tokenFile.replaceAll("'", "'\\''")}'`;
  console.log(`The token is in ${tokenFile}. Try:\n`);
  console.log(`  sed 's/^/Authorization: Bearer /' ${file} | curl -sS -H @- ${url}/tools/list`);
}
