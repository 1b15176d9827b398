/** Reads and writes the text on the clipboard, by programs of the system. */
import path from "node:path";
import type { MatrxError } from "@matrx/shared/errors.ts";
import type { ClipboardPrograms } from "../platform/platform.ts";
import { findProgram, ProgramFailed, runProgram } from "../platform/run-program.ts";
import { CLIPBOARD_HINT, type Desktop } from "./desktop.ts";
import { desktopError, NO_CONNECTION, noDisplayError } from "./errors.ts";
import type { Surroundings } from "./surroundings.ts";

/** Of text in UTF-8. */
export const CLIPBOARD_MAX_BYTES = 1024 * 1024;
/** The program that copied the text may have hung; in milliseconds. */
const READ_MS = 10_000;

export interface ClipboardText {
  /** Empty if no text is there. */
  readonly text: string;
  /** Whether there is more of it. */
  readonly isCut: boolean;
  /** The program's name. */
  readonly by: string;
}

/** Throws MatrxError. */
export function readClipboard(
  desktop: Desktop,
  surroundings: Surroundings,
  signal: AbortSignal,
): Promise<ClipboardText> {
  return byFirst(desktop, surroundings, "read", async (found) => {
    const { bytes, isCut } = await contentBy(found, signal);
    // What was cut may end within a character, which `stream` leaves out.
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: isCut });
    return { text, isCut, by: path.basename(found.readerFile) };
  });
}

/** Resolves with the name of the program that put it there. Throws MatrxError. */
export async function writeClipboard(
  desktop: Desktop,
  text: string,
  surroundings: Surroundings,
  signal: AbortSignal,
): Promise<string> {
  const wanted = Buffer.from(text, "utf8");
  const { clipboardServer } = desktop;
  return await clipboardServer.mutex.runExclusive(() =>
    byFirst(desktop, surroundings, "written", async (found) => {
      const { writer } = found.programs;
      const isThere = async (looking: AbortSignal) => {
        const { bytes } = await contentBy(found, looking).catch(unlessFailed);
        return wanted.equals(bytes);
      };
      await clipboardServer.put({
        ...{
          file: found.writerFile,
          args: writer.args,
          env: found.env,
          cwd: found.cwd,
          stdin: writer.stdinFor(text),
          signal,
        },
        isThere: writer.serves ? isThere : undefined,
      });
      return path.basename(found.writerFile);
    }),
  );
}

interface Found {
  readonly programs: ClipboardPrograms;
  readonly readerFile: string;
  readonly writerFile: string;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

/** Uses the first programs that are there and do not fail. Throws MatrxError. */
async function byFirst<T>(
  desktop: Desktop,
  { env, cwd }: Surroundings,
  done: "read" | "written",
  use: (found: Found) => Promise<T>,
): Promise<T> {
  desktop.requireDisplay();
  const troubles: string[] = [];
  for (const programs of desktop.platform.desktop.clipboards(env)) {
    const readerFile = findProgram(programs.reader.program, env);
    const writerFile = findProgram(programs.writer.program, env);
    if (!readerFile || !writerFile) continue;
    try {
      return await use({ programs, readerFile, writerFile, env: { ...env, ...programs.env }, cwd });
    } catch (error) {
      if (!(error instanceof ProgramFailed)) throw error;
      troubles.push(`${path.basename(done === "read" ? readerFile : writerFile)}: ${error.message}`);
    }
  }
  throw failed(desktop, done, troubles);
}

function failed({ platform }: Desktop, done: string, troubles: readonly string[]): MatrxError {
  if (troubles.length === 0)
    return desktopError("No program for the clipboard was found", CLIPBOARD_HINT, { reason: "NO_PROGRAM" });
  const said = troubles.join("; ");
  if (NO_CONNECTION.test(said))
    return noDisplayError(`The agent's display does not respond (${said})`, platform.desktop.displayHint);
  return desktopError(
    `The clipboard could not be ${done} (${said})`,
    "Try again; perhaps the program that owns the clipboard does not respond",
    { reason: "NO_CLIPBOARD" },
  );
}

interface Content {
  readonly bytes: Buffer;
  readonly isCut: boolean;
}

const NOTHING: Content = { bytes: Buffer.alloc(0), isCut: false };

/** Throws ProgramFailed, or the signal's reason. */
async function contentBy({ programs, readerFile, env, cwd }: Found, signal: AbortSignal): Promise<Content> {
  const { args, empty } = programs.reader;
  const limits = { timeoutMs: READ_MS, mostBytes: CLIPBOARD_MAX_BYTES };
  try {
    const { stdout, isCut } = await runProgram(readerFile, args, { ...limits, env, cwd, signal });
    return { bytes: stdout, isCut };
  } catch (error) {
    if (error instanceof ProgramFailed && empty?.test(error.message)) return NOTHING;
    throw error;
  }
}

function unlessFailed(error: unknown): Content {
  if (error instanceof ProgramFailed) return NOTHING;
  throw error;
}
