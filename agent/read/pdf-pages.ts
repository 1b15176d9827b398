/** Reads the text of a PDF's pages in a separate process, to contain hostile files. */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { FairMutex } from "@matrx/shared/mutex.ts";
import { bareEnvironment } from "../platform/environment.ts";
import { ROOT } from "../platform/run-program.ts";
import { PDF_PROGRAM, type PdfJob, type PdfWords } from "./pdf-program.ts";

export interface PdfPages {
  /** Pages of the whole document. */
  readonly total: number;
  /** The pages requested, as many as fit. */
  readonly texts: readonly string[];
}

/** The file could not be read; the message says why, for people. */
export class PdfFailed extends Error {
  readonly reason: "password" | "damaged" | "limits";

  constructor(reason: PdfFailed["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

const MiB = 1024 * 1024;
const LIMITS = { mostChars: 1024 * 1024, mostBytes: 512 * MiB, mostMs: 30_000 };

/** One program at a time: each may take 512 MiB. */
const mutex = new FairMutex();

/** Who wants the pages, and until when. */
export interface PdfCall {
  readonly grant: { readonly id: string };
  readonly signal: AbortSignal;
}

/** `descriptor` must be at the beginning of the file. Throws PdfFailed, or the signal's reason. */
export function pdfPages(
  descriptor: number,
  range: Pick<PdfJob, "first" | "last">,
  { grant, signal }: PdfCall,
  limits = LIMITS,
): Promise<PdfPages> {
  return mutex.runExclusive(grant.id, () => readPages(descriptor, { ...range, ...limits }, signal));
}

async function readPages(descriptor: number, job: PdfJob, signal: AbortSignal): Promise<PdfPages> {
  signal.throwIfAborted();
  const child = spawn(process.execPath, argumentsFor(job), {
    stdio: [descriptor, "pipe", "ignore"],
    cwd: ROOT,
    env: bareEnvironment(),
    windowsHide: true,
  });
  const gone = new Promise<void>((resolve) =>
    child.once("exit", () => resolve()).once("error", () => resolve()),
  );
  const kill = () => child.kill("SIGKILL");
  signal.addEventListener("abort", kill, { once: true });
  // It ends itself sooner, unless even its main thread hangs.
  const timer = setTimeout(kill, job.mostMs + 5000);
  // A pipe, because of `stdio`.
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
 * The process may read its library and start its worker thread; no other files, no programs. This guards against mistakes
 * of the library, not against code injected by a file, which could start a thread without these limits (`execArgv`).
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

function failureOf(failed: string, why: string, { mostMs, mostBytes }: PdfJob): PdfFailed {
  if (failed === "PasswordException") return new PdfFailed("password", "it is locked with a password");
  if (failed === "time") return new PdfFailed("limits", `it takes longer than ${mostMs} ms`);
  if (failed === "memory") return new PdfFailed("limits", `it takes more memory than ${mostBytes} bytes`);
  return new PdfFailed("damaged", why || failed);
}
