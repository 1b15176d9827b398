/** The last lines of a log, from a file or from a program that prints it, in bounded memory. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { FileAccess } from "../fs/access.ts";
import { explained } from "../fs/errors.ts";
import { openFile } from "../fs/open-file.ts";
import { bareEnvironment } from "../platform/environment.ts";
import { ROOT } from "../platform/run-program.ts";
import type { LogSource } from "../platform/system-log.ts";
import { tailStart } from "../text/tail.ts";
import { toolName } from "../text/tool-names.ts";

export interface LogTail {
  /** Oldest first. */
  readonly lines: readonly string[];
  /** Whether earlier lines were dropped because they were too large together. */
  readonly cut: boolean;
}

/** How many bytes of a log are kept in memory. */
const KEPT_BYTES = 4 * 1024 * 1024;
const PROGRAM_MS = 20_000;
const ERROR_CHARS = 300;

/** Throws MatrxError. */
export async function tailOfFile(
  access: FileAccess,
  file: string,
  lines: number,
  signal: AbortSignal,
): Promise<LogTail> {
  const { handle, stat, place } = await openFile(access, file);
  try {
    return await explained(place.shown, "read", async () => {
      const size = Number(stat.size);
      const start = await tailStart(handle, size, lines, KEPT_BYTES, signal);
      const from = start ?? size - KEPT_BYTES;
      const bytes = Buffer.allocUnsafe(size - from);
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, from);
      return {
        lines: linesOf(bytes.subarray(0, bytesRead), start === undefined, lines),
        cut: start === undefined,
      };
    });
  } finally {
    await handle.close();
  }
}

interface ProgramTail {
  readonly lines: number;
  /** Where the program is found. */
  readonly searchPath: string;
  readonly signal: AbortSignal;
}

/** Throws MatrxError if the program is missing, fails, or does not end in time. */
export async function tailOfProgram(
  source: Extract<LogSource, { by: "program" }>,
  { lines, searchPath, signal }: ProgramTail,
): Promise<LogTail> {
  const timeout = AbortSignal.timeout(PROGRAM_MS);
  const child = spawn(source.file, source.argumentsFor(lines), {
    stdio: ["ignore", "pipe", "pipe"],
    windowsHide: true,
    cwd: ROOT,
    env: { ...bareEnvironment(), PATH: searchPath, LC_ALL: "C.UTF-8" },
    signal: AbortSignal.any([signal, timeout]),
    killSignal: "SIGKILL",
  });
  const output = new LastBytes(KEPT_BYTES);
  const errors = new LastBytes(ERROR_CHARS);
  child.stdout.on("data", (piece: Buffer) => output.add(piece));
  child.stderr.on("data", (piece: Buffer) => errors.add(piece));
  try {
    const [code] = (await once(child, "close")) as [number | null];
    if (code !== 0) throw failed(source.file, errors.bytes().toString("utf8").trim() || `exit code ${code}`);
  } catch (error) {
    if (error instanceof MatrxError) throw error;
    const why = timeout.aborted ? `no end within ${PROGRAM_MS} ms` : codeOf(error);
    throw failed(source.file, why, error);
  }
  return { lines: linesOf(output.bytes(), output.isCut, lines), cut: output.isCut };
}

function linesOf(bytes: Buffer, beginsWithin: boolean, most: number): string[] {
  const lines = bytes.toString("utf8").split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return (beginsWithin ? lines.slice(1) : lines).slice(-most);
}

/** The last bytes of a stream. */
class LastBytes {
  readonly #most: number;
  #pieces: Buffer[] = [];
  #length = 0;
  isCut = false;

  constructor(most: number) {
    this.#most = most;
  }

  add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length > 2 * this.#most) this.#pieces = [this.bytes()];
  }

  bytes(): Buffer {
    const all = Buffer.concat(this.#pieces);
    if (all.length > this.#most) this.isCut = true;
    const last = all.subarray(Math.max(0, all.length - this.#most));
    this.#length = last.length;
    return last;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "it could not be started";
}

function failed(program: string, why: string, cause?: unknown): MatrxError {
  return toolError("TOOL_EXECUTION_FAILED", `${program} couldn't read the log: ${why}`, {
    hint: `Use ${toolName("Bash")} to see more`,
    cause,
  });
}
