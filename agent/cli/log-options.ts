/** How `up` and `serve` are told where to log, and how much. */
import { Option } from "commander";
import { LOG_LEVELS } from "../config.ts";
import type { LogOptions } from "../log.ts";

export const logFileOption = new Option("--log-file <path>", "keep the log here, and do not print it");
export const logLevelOption = new Option("--log-level <level>", "how much to log").choices(LOG_LEVELS);

export interface LogChoice {
  logFile?: string | undefined;
  logLevel?: string | undefined;
}

/** The log is printed and kept in its usual file, or kept in the named one alone. */
export function logTo(usual: string, { logFile, logLevel }: LogChoice): LogOptions {
  return { level: logLevel, file: logFile ?? usual, printed: logFile === undefined };
}
