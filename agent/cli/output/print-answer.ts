/** Shows a call's answer, and sets the exit code. */
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import { contentLines } from "./content-lines.ts";
import { exitCodeOf, IO_ERROR, reportFailure, usageError } from "./failure.ts";
import type { LiveOutput } from "./live-output.ts";
import { note, printJson, toolOutput } from "./print.ts";
import { isReaderGone, ReaderGone, write } from "./reader.ts";
import { type EndedCall, OutputLost, wholeOutput } from "./whole-output.ts";

/** A call that has ended. */
export interface MadeCall {
  readonly answer: Answer;
  /** Output that was already shown live. */
  readonly live?: LiveOutput | undefined;
  readonly session: string | undefined;
}

interface EndOptions {
  json?: boolean;
  save?: string;
  session?: string;
}

/** Prints what was not shown live, and reports the answer's error. Throws MatrxError if `--save` fails, or ReaderGone. */
export async function endCall(
  { answer, live, session }: MadeCall,
  more: Omit<EndedCall, "answer" | "from">,
  options: EndOptions,
): Promise<void> {
  if (options.session === "new" && session) note(`session ${session}`);
  if (options.json) printJson(answer);
  const error = errorIn(answer);
  process.exitCode = error ? exitCodeOf(error) : exitOf(answer);
  if (options.save !== undefined && !error) return save(options.save, { ...more, answer, from: 0 });
  const isPiped = !process.stdout.isTTY && !options.json;
  if (isPiped) await writeWhole(process.stdout, { ...more, answer, from: live?.exactTo ?? 0 });
  if (isReaderGone()) throw new ReaderGone();
  if (error) return reportFailure(isPiped ? firstLineOf(error) : error, { json: false });
  if (!isPiped && !options.json && !live?.isWhole) print(answer);
}

function errorIn({ type, code, hint, hop, metadata, output }: Answer): MatrxError | undefined {
  if (type !== "error") return undefined;
  const error = { code: code ?? "TOOL_EXECUTION_FAILED", message: output, hint, hop: hop ?? "tool" };
  return new MatrxError({ ...error, details: metadata });
}

/** The exit code of a command; 1 if it is not within 0 to 255. */
function exitOf({ metadata }: Answer): number {
  const code = metadata?.exit_code;
  if (typeof code !== "number") return 0;
  return code >= 0 && code <= 255 ? code : 1;
}

function print({ output, image, content }: Answer): void {
  const text = toolOutput(output, process.stdout);
  process.stdout.write(text === "" || text.endsWith("\n") ? text : `${text}\n`);
  if (image) note(`The answer is an image (${image.media_type}): save it with --save FILE.`);
  for (const line of contentLines(content)) note(line);
}

/** The message of a stopped command includes its output, which is on stdout already. */
function firstLineOf(error: MatrxError): MatrxError {
  if (typeof error.details?.bash_id !== "string") return error;
  return new MatrxError({ ...error.shape(), message: error.message.split("\n")[0] ?? "" });
}

async function save(path: string, ended: EndedCall): Promise<void> {
  const file = createWriteStream(path);
  try {
    await once(file, "open");
    await writeWhole(file, ended);
    file.end();
    await finished(file);
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause) || cause instanceof MatrxError) throw cause;
    throw usageError(
      `The call succeeded, but ${path} can't be written (${cause.code})`,
      "Use another file with --save",
    );
  }
  note(`Saved to ${path}.`);
}

/** Writes all of the output. If some of it is lost, prints a message and sets the exit code. */
async function writeWhole(to: Writable, ended: EndedCall): Promise<void> {
  let written = false;
  try {
    for await (const piece of wholeOutput(ended)) {
      written = true;
      await write(to, piece);
    }
  } catch (error) {
    if (!(error instanceof OutputLost) && !(error instanceof MatrxError)) throw error;
    if (!written && ended.from === 0) await write(to, ended.answer.output);
    console.error(`The output is incomplete: ${error.message}`);
    process.exitCode ||= IO_ERROR;
  }
}
