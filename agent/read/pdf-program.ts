/**
 * The program that reads PDF files: a separate Node process that may read only its library and the file on its stdin. Its
 * memory and time are bounded: the main thread watches a worker thread, which does the work.
 *
 * Arguments: the library's URL, and a PdfJob as JSON. Writes PdfWords, one JSON object per line.
 */

export interface PdfJob {
  readonly first: number;
  readonly last: number;
  /** Limit on the text of one page. */
  readonly mostChars: number;
  readonly mostBytes: number;
  readonly mostMs: number;
}

export type PdfWords =
  | { readonly pages: number }
  | { readonly page: number; readonly text: string }
  /** A name such as PasswordException, `memory` or `time`. */
  | { readonly failed: string; readonly why: string };

const WORK = `
import { parentPort, workerData } from "node:worker_threads";
import { readFileSync } from "node:fs";
const { library, first, last, mostChars } = workerData;
try {
  const { getDocumentProxy } = await import(library);
  const options = { isEvalSupported: false, useSystemFonts: false, disableFontFace: true, verbosity: 0 };
  const pdf = await getDocumentProxy(new Uint8Array(readFileSync(0)), options);
  parentPort.postMessage({ pages: pdf.numPages });
  for (let number = first; number <= Math.min(last, pdf.numPages); number++) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    const text = items.map(({ str = "", hasEOL }) => (hasEOL ? str + "\\n" : str)).join("");
    parentPort.postMessage({ page: number, text: text.slice(0, mostChars) });
    page.cleanup();
  }
} catch (error) {
  parentPort.postMessage({ failed: String(error?.name), why: String(error?.message).slice(0, 300) });
}
`;

export const PDF_PROGRAM = `
import { writeSync } from "node:fs";
import { Worker } from "node:worker_threads";
const [library, job] = process.argv.slice(1);
const { mostBytes, mostMs, ...wanted } = JSON.parse(job);
const say = (words) => {
  const bytes = Buffer.from(JSON.stringify(words) + "\\n");
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(1, bytes, done);
    } catch (error) {
      if (error.code !== "EAGAIN") process.exit(1);
    }
  }
};
const end = (failed, why) => {
  say({ failed, why });
  process.exit(0);
};
const heap = { maxOldGenerationSizeMb: Math.ceil(mostBytes / 2 ** 20) };
const worker = new Worker(${JSON.stringify(WORK)}, { eval: true, workerData: { library, ...wanted }, resourceLimits: heap });
worker.on("message", say);
worker.on("error", (error) => end(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "memory" : error.name, error.message));
worker.on("exit", () => process.exit(0));
setInterval(() => {
  if (process.memoryUsage.rss() > mostBytes) end("memory", "");
}, 20);
setTimeout(() => end("time", ""), mostMs);
`;
