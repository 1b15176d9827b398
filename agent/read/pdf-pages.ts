/** The text of a PDF's pages, read by a program of its own: what a hostile file does there ends with it. */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { KeyedMutex } from "../fs/keyed-mutex.ts";
import { PDF_PROGRAM, type PdfJob, type PdfWords } from "./pdf-program.ts";

export interface PdfPages {
  /** Of the whole document. */
  readonly total: number;
  /** Those that were wanted, as many as there was room for. */
  readonly texts: readonly string[];
}

/** Its message is for people. */
export class PdfFailed extends Error {
  readonly reason: "password" | "damaged" | "limits";

  constructor(reason: PdfFailed["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

const MiB = 1024 * 1024;
const LIMITS = { mostChars: 1024 * 1024, mostBytes: 512 * MiB, mostMs: 30_000 };

/** A program for each at the same time would be too much. */
const mutex = new KeyedMutex();

/** `descriptor` is open at its beginning. Throws PdfFailed, or the signal's reason. */
export function pdfPages(
  descriptor: number,
  range: Pick<PdfJob, "first" | "last">,
  signal: AbortSignal,
  limits = LIMITS,
): Promise<PdfPages> {
  return mutex.runExclusive("pdf", () => readPages(descriptor, { ...range, ...limits }, signal));
}

async function readPages(descriptor: number, job: PdfJob, signal: AbortSignal): Promise<PdfPages> {
  signal.throwIfAborted();
  const child = spawn(process.execPath, argumentsFor(job), {
    stdio: [descriptor, "pipe", "ignore"],
    env: environment(),
    windowsHide: true,
  });
  const gone = new Promise<void>((resolve) =>
    child.once("exit", () => resolve()).once("error", () => resolve()),
  );
  const kill = () => child.kill("SIGKILL");
  signal.addEventListener("abort", kill, { once: true });
  // It ends itself sooner, unless not even its first thread runs.
  const timer = setTimeout(kill, job.mostMs + 5000);
  // A pipe, as it was asked for.
  const output = child.stdout as Readable;
  let total: number | undefined;
  const texts: string[] = [];
  let chars = 0;
  try {
    for await (const line of createInterface({ input: output })) {
      const words = JSON.parse(line) as PdfWords;
      if ("failed" in words) throw failureOf(words.failed, words.why, job);
      if ("pages" in words) total = words.pages;
      else {
        texts.push(words.text);
        chars += words.text.length;
        if (chars >= job.mostChars) break;
      }
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", kill);
    kill();
    await gone;
  }
  signal.throwIfAborted();
  if (total === undefined) throw new PdfFailed("damaged", "the program that reads it ended early");
  return { total, texts };
}

/**
 * It may read its own library, and begin its second thread; no other files, no programs. A guard against what the library
 * does by mistake: code that a file got to run in it could begin a thread without these limits (`execArgv`).
 */
function argumentsFor(job: PdfJob): string[] {
  const library = createRequire(import.meta.url).resolve("#pdf-library");
  const folder = path.dirname(path.dirname(library));
  return [
    "--permission",
    `--allow-fs-read=${folder}${path.sep}*`,
    "--allow-worker",
    "--no-warnings",
    "--input-type=module",
    "--eval",
    PDF_PROGRAM,
    "--",
    pathToFileURL(library).href,
    JSON.stringify(job),
  ];
}

/** Nothing of ours; Windows needs to know itself. */
function environment(): NodeJS.ProcessEnv {
  const { SystemRoot } = process.env;
  return SystemRoot === undefined ? {} : { SystemRoot };
}

function failureOf(failed: string, why: string, { mostMs, mostBytes }: PdfJob): PdfFailed {
  if (failed === "PasswordException") return new PdfFailed("password", "it is locked with a password");
  if (failed === "time") return new PdfFailed("limits", `it takes longer than ${mostMs} ms`);
  if (failed === "memory") return new PdfFailed("limits", `it takes more memory than ${mostBytes} bytes`);
  return new PdfFailed("damaged", why || failed);
}
