/** `matrx logs`: shows what the agent on this machine logged, from its files. */
import { once } from "node:events";
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import { type Command, Option } from "commander";
import { LogReader } from "../../log/log-reader.ts";
import { shortLine } from "../../log/short-line.ts";
import { agentHome } from "../agent-home.ts";
import { usageError } from "../output/failure.ts";
import { plain } from "../output/print.ts";
import { stopSignal } from "../run/stop-signal.ts";

const LEVELS = { debug: 20, info: 30, warn: 40, error: 50 } as const;
const LINES_MAX = 100_000;
/** Polling interval, in milliseconds; `fs.watch` starts late and would miss lines. */
const LOOK_EVERY = 250;

interface LogsOptions {
  lines: string;
  follow?: boolean;
  local?: boolean;
  level: keyof typeof LEVELS;
  file?: string;
  json?: boolean;
}

export function addLogs(program: Command): void {
  program
    .command("logs")
    .description("show the log of this machine's agent")
    .option("-n, --lines <number>", "how many lines to show, from the end", "50")
    .option("-f, --follow", "keep printing new lines, until Ctrl-C")
    .option("--local", "the log of matrx serve instead of matrx up")
    .addOption(
      new Option("--level <level>", "the least severe level to show")
        .choices(Object.keys(LEVELS))
        .default("debug"),
    )
    .option("--file <path>", "another log, written with --log-file")
    .option("--json", "print the lines as stored, one JSON object each")
    .addHelpText(
      "after",
      "\nExamples:\n  matrx logs\n  matrx logs -f --level warn\n  matrx logs -n 1000 --json | jq .msg",
    )
    .action(logs);
}

async function logs(options: LogsOptions): Promise<void> {
  const lines = Number(options.lines);
  if (!Number.isInteger(lines) || lines < 0 || lines > LINES_MAX) {
    throw usageError(
      `--lines: "${options.lines}" is not a number of lines`,
      `Use a whole number from 0 to ${LINES_MAX}`,
    );
  }
  const home = agentHome();
  const path = options.file ?? (options.local ? home.localLogFile : home.logFile);
  const reader = new LogReader(path, (line) => levelOf(line) >= LEVELS[options.level]);
  const last = reader.last(lines);
  if (last === undefined && !options.follow) throw noLog(path, options.local ?? false);
  const show = (line: string) => console.log(options.json ? line : plain(shortLine(line)));
  last?.forEach(show);
  if (options.follow) await follow(reader, show);
}

async function follow(reader: LogReader, show: (line: string) => void): Promise<void> {
  const stop = stopSignal();
  const looking = setInterval(() => reader.fresh().forEach(show), LOOK_EVERY);
  if (!stop.aborted) await once(stop, "abort");
  clearInterval(looking);
}

/** Lines in another format count as errors, so that they are shown. */
function levelOf(line: string): number {
  return Number(/^\{"level":(\d+),/.exec(line)?.[1] ?? LEVELS.error);
}

function noLog(path: string, local: boolean): MatrxError {
  return agentError("NOT_FOUND", `There is no log at ${path}`, {
    hint: `Nothing has been logged yet. Run: matrx ${local ? "serve" : "up"}.`,
  });
}
