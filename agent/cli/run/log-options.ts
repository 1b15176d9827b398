/** How `up` and `serve` are told where to log, and how much. */
import { Option } from "commander";
import { LOG_LEVELS } from "../../config/config.ts";
import type { LogOptions } from "../../log/log.ts";

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
  /** Named on the command line. */
  logLevel?: Level | undefined;
  /** By the configuration. */
  usualLevel?: Level | undefined;
}

/** The log is kept in its usual file, and what matters of it printed; or kept in the named one alone. */
export function logTo(usual: string, { logFile, logLevel, usualLevel }: LogChoice): LogOptions {
  const printed = logFile === undefined ? (logLevel ?? "warn") : undefined;
  return { level: logLevel ?? usualLevel, file: logFile ?? usual, printed };
}
