/** `matrx run`: runs a program on a device as ssh does: passes on stdin, output, exit code and Ctrl-C. */
import { callerError, MatrxError, shapeOf, toolError } from "@matrx/shared/errors.ts";
import type { Command } from "commander";
import { powershellLiteral } from "../../platform/windows/powershell.ts";
import { type CallerOptions, callerOf, relayOption, tokenFileOption } from "../client/credentials.ts";
import { viewDevice } from "../client/find-device.ts";
import { sessionNamed } from "../client/names.ts";
import { RemoteJob } from "../client/remote-job.ts";
import { NOT_RUN, reportFailure, usageError } from "../output/failure.ts";
import { note } from "../output/print.ts";
import { withProgress } from "../output/progress.ts";
import { isReaderGone } from "../output/reader.ts";
import { JsonResult, PlainResult, type RunResult } from "../output/run-result.ts";
import { OutputLost } from "../output/whole-output.ts";
import { asTyped } from "../program-name.ts";
import { exitOfSignal, stopSignal } from "../run/stop-signal.ts";

interface RunOptions extends CallerOptions {
  stdin: boolean;
  session?: string;
  json?: boolean;
}

export function addRun(program: Command): void {
  program
    .command("run")
    .description("run a program on a device, as ssh does")
    .usage("[options] [device] -- <program> [argument...]")
    .argument("[device]", "id or name, or the start of one (default: see matrx use)")
    .argument("[program...]", "the program and its arguments, passed on exactly")
    .passThroughOptions()
    .addOption(relayOption)
    .addOption(tokenFileOption)
    .option("-n, --no-stdin", "give the program nothing to read")
    .option("--session <name>", "run in this session's working directory")
    .option("--json", "print one JSON object with output and exit code")
    .addHelpText(
      "after",
      `
Put options before the device. Piped input (at most 2 MiB) is read to its end before the program starts; programs that ask
questions don't work yet. The program's stdout and stderr both arrive on stdout, in order. Ctrl-C stops the program.

The exit code is the program's own; 255 means that it could not be run, 130 that you pressed Ctrl-C.

Examples:
  matrx run laptop -- uname -a
  matrx run laptop -- sh -c 'du -sh ~/* | sort -h'
  matrx run laptop -- tar c notes > notes.tar
  tar c notes | matrx run laptop -- tar x -C /srv/backup`,
    )
    .action((device: string | undefined, rest: string[], options: RunOptions) =>
      run(readWords(process.argv, device === undefined ? [] : [device, ...rest]), options),
    );
}

interface Words {
  readonly device: string | undefined;
  readonly argv: readonly string[];
}

/** `words` are the end of the line, from which commander removed a leading `--`. Throws MatrxError. */
export function readWords(line: readonly string[], words: readonly string[]): Words {
  const namesDevice = line[line.length - words.length - 1] !== "--";
  const [device] = namesDevice ? words : [];
  const rest = namesDevice ? words.slice(1) : words;
  const argv = rest[0] === "--" ? rest.slice(1) : rest;
  if (rest[0] !== "--" && namesDevice && rest[0]?.startsWith("-"))
    throw usageError(
      `${rest[0]} comes after the device`,
      "Options go before it: matrx run [options] DEVICE -- PROGRAM",
    );
  if (argv.length === 0)
    throw usageError("No program given", "Usage: matrx run [DEVICE] -- PROGRAM [ARGUMENT...]");
  return { device, argv };
}

async function run({ device: wanted, argv }: Words, options: RunOptions): Promise<void> {
  const stop = stopSignal();
  const client = callerOf(options);
  const stdin = options.stdin ? await readStdin() : undefined;
  const { id, name, os } = await withProgress("Contacting the relay", viewDevice(client, wanted));
  const session = options.session === undefined ? undefined : sessionNamed(options.session);
  const toStart = { device: id, command: commandLine(argv, os), stdin, session };
  const job = await withProgress("Starting the program", RemoteJob.start(client, toStart, stop));
  const result = options.json ? new JsonResult({ device: id, job: job.id }) : new PlainResult();
  try {
    await show(job, result, stop);
    if (job.exit == null) throw noExitCode();
  } catch (error) {
    return fail(stop.aborted ? await stopped(job, result) : error, job, result, name);
  }
  await result.end(job.exit);
  process.exitCode = job.exit >= 0 && job.exit <= 255 ? job.exit : 1;
  const [only = ""] = argv;
  if (job.exit === 127 && argv.length === 1 && only.includes(" "))
    note(asTyped(`To run a line of shell: matrx run ${name} -- sh -c '${only}'`));
}

async function show(job: RemoteJob, result: RunResult, stop?: AbortSignal): Promise<void> {
  for await (const piece of job.output(stop)) await result.write(piece);
}

/** Stops the program on the device, and shows the rest of its output. Returns the error to report. */
async function stopped(job: RemoteJob, result: RunResult): Promise<unknown> {
  try {
    await job.stop();
    if (!isReaderGone()) await show(job, result);
    return callerError("CANCELLED", "The program was stopped");
  } catch (error) {
    return error;
  }
}

async function fail(error: unknown, job: RemoteJob, result: RunResult, device: string): Promise<void> {
  const isStopped = error instanceof MatrxError && error.code === "CANCELLED";
  process.exitCode = (isStopped ? exitOfSignal() : undefined) ?? NOT_RUN;
  if (isReaderGone() && isStopped) return;
  const failure = error instanceof OutputLost ? incomplete(error) : error;
  await result.end(null, shapeOf(failure, "caller", job.id));
  reportFailure(failure, { json: false });
  if (job.exit === undefined)
    note(asTyped(`It may still be running. To stop it: matrx call ${device} TaskStop task_id=${job.id}`));
}

function incomplete({ message }: OutputLost): MatrxError {
  return callerError("OUTCOME_UNKNOWN", `The output is incomplete: ${message}`);
}

function noExitCode(): MatrxError {
  return toolError("OUTCOME_UNKNOWN", "The program ended without an exit code: its shell was killed", {
    hint: "Check what it did before you run it again",
  });
}

/** Limit of one call. */
const MOST_BYTES = 2 * 1024 * 1024;

/** All of stdin; undefined if it is a terminal, or empty. Throws MatrxError if it is too large. */
async function readStdin(): Promise<Buffer | undefined> {
  if (process.stdin.isTTY) return undefined;
  const bytes = await withProgress("Reading stdin to its end first (-n skips it)", readAll());
  return bytes.length === 0 ? undefined : bytes;
}

async function readAll(): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of process.stdin as AsyncIterable<Buffer>) {
    pieces.push(piece);
    length += piece.length;
    if (length > MOST_BYTES) throw tooLarge();
  }
  return Buffer.concat(pieces);
}

function tooLarge(): MatrxError {
  return callerError(
    "PAYLOAD_TOO_LARGE",
    `stdin is larger than ${MOST_BYTES / 1024 / 1024} MiB, so nothing was run`,
    { hint: "Send less, or run without stdin (-n) and have the program fetch it" },
  );
}

/** `os` is what the device reported. */
export function commandLine(argv: readonly string[], os: string | null): string {
  return os?.startsWith("Windows") ? powershellLine(argv) : posixLine(argv);
}

/** Quotes every word, because a program may have the name of a shell keyword, such as `time`. */
function posixLine(argv: readonly string[]): string {
  return argv.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
}

/**
 * Never run on Windows. PowerShell before 7.3 does not escape quotes in arguments, empty arguments, and backslashes before
 * its own quotes (about_Parsing).
 */
function powershellLine([program = "", ...args]: readonly string[]): string {
  const list = args.map(powershellLiteral).join(", ");
  return [
    `$__args = @(${list})`,
    "if ($PSVersionTable.PSVersion -lt [Version]'7.3') {",
    `  $__args = @($__args | ForEach-Object { $_ -replace '(\\\\*)"', '$1$1\\"' -replace '^(.*\\s.*?)(\\\\+)$', '$1$2$2' -replace '^$', '""' })`,
    "}",
    `& ${powershellLiteral(program)} @__args`,
  ].join("\n");
}
