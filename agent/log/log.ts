/**
 * Logs: JSON lines in files, short lines for people on stderr. Secrets are redacted by key.
 *
 * `matrx up` writes `agent.log` in `Home.logs`, `matrx serve` writes `local.log`, each with up to two older files beside
 * it: `agent.log.1` and `agent.log.2` (the oldest), of about 5 MiB each. Each line is a JSON object: `time` (ms since
 * 1970), `level` (30 info, 40 warning, 50 error), `msg`, and facts. `--log-file` names another file instead.
 */
import pino, { type DestinationStream, type Logger } from "pino";
import type { LOG_LEVELS } from "../config/config.ts";
import { LogFile } from "./log-file.ts";
import { shortLine } from "./short-line.ts";

const SECRETS = [
  "token",
  "auth_token",
  "secret",
  "authorization",
  "Authorization",
  "key",
  "privateKey",
  "cookie",
  "password",
  "nonce",
];
const PATHS = SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);
/** Limit on text that waits to be printed, in UTF-16 units. */
const UNPRINTED_CHARS = 64 * 1024;

export interface LogOptions {
  level?: string | undefined;
  /** File for JSON lines, in addition to what is printed. */
  file?: string | undefined;
  /** Short lines of this level and above are printed to stderr; absent: none. */
  printed?: (typeof LOG_LEVELS)[number] | undefined;
  /** Called with everything logged as an error or worse. */
  onError?: ((problem: LoggedProblem) => void) | undefined;
}

/** Something logged as an error. */
export interface LoggedProblem {
  readonly msg: string;
  /** The message of the error that was logged with it. */
  readonly cause: string | undefined;
}

/** The program's log. */
export function makeLog({ level = "info", file, printed, onError }: LogOptions = {}): Logger {
  const outputs: DestinationStream[] = [];
  if (printed) outputs.push(shortLines(pino.levels.values[printed] ?? Number.POSITIVE_INFINITY));
  if (file) outputs.push(new LogFile({ path: file, onFailure: (cause) => sayUnwritten(file, cause) }));
  const destination = {
    write: (line: string) => {
      for (const output of outputs) output.write(line);
      if (onError && ERROR_LEVEL.test(line)) onError(problemIn(line));
    },
  };
  return pino({ level, redact: { paths: PATHS, censor: "[redacted]" }, base: null }, destination);
}

/** A full disk, or a reader that is gone, must not stop the program that logs. */
function stderrForLogs(): { write(text: string): unknown } {
  if (process.stderr.isTTY) return process.stderr;
  return pino.destination({ dest: 2, sync: true, maxLength: UNPRINTED_CHARS }).on("error", () => undefined);
}

/** Reported on stderr, since the log cannot say it. */
function sayUnwritten(file: string, cause: unknown): void {
  const why = cause instanceof Error ? cause.message : String(cause);
  console.error(`The log ${file} cannot be written: ${why}`);
}

const ERROR_LEVEL = /^\{"level":[56]0,/;

function problemIn(line: string): LoggedProblem {
  const { msg = "", err } = JSON.parse(line) as { msg?: string; err?: { message?: string } };
  return { msg, cause: err?.message };
}

/** Turns JSON lines of this level and above into lines such as `12:03:01 connected device=laptop`. */
function shortLines(level: number): DestinationStream {
  const to = stderrForLogs();
  return {
    write(line) {
      if (Number(/^\{"level":(\d+),/.exec(line)?.[1]) >= level) to.write(`${shortLine(line)}\n`);
    },
  };
}
