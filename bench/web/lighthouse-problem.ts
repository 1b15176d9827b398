/** What is said when Lighthouse itself fails: what failed, and what to do. Nothing is tried again. */
import { Problem } from "../../scripts/problem.ts";

/** How its program ended, as `execFile` tells it. */
export interface Ended {
  readonly code?: number | string | null;
  readonly signal?: string | null;
  /** It took too long. */
  readonly killed?: boolean;
  readonly stderr?: string;
}

/** As its report has it. */
export interface RuntimeError {
  readonly code: string;
  readonly message: string;
}

const NO_CHROMIUM = /Unable to connect to Chrome|connecting to Chrome|CHROME_PATH|ENOENT|ECONNREFUSED/;
const NO_PAGE = /DOCUMENT_REQUEST|DNS_FAILURE|PAGE_HUNG|NOT_HTML|CHROME_INTERSTITIAL_ERROR/;

export function lighthouseProblem(url: string, ended: Ended, error: RuntimeError | undefined): Problem {
  const what = error ? wordsOf(error) : endOf(ended);
  return new Problem(
    `Lighthouse failed to look at ${url}\n  ${what}\n${adviceOn(what)}\nbench/web-results.json is as it was before.`,
  );
}

/** Some messages name their code at the end. */
function wordsOf({ code, message }: RuntimeError): string {
  return message.includes(code) ? message : `${code}: ${message}`;
}

function endOf({ code, signal, killed, stderr = "" }: Ended): string {
  if (killed) return "It did not finish in time.";
  const lines = stderr.split("\n").filter((line) => line.trim() !== "" && !/^\s+at /.test(line));
  const said = lines.find((line) => line.startsWith("Runtime error encountered:")) ?? lines.at(-1);
  return said ?? (code === 0 ? "It wrote no report that can be read." : `It ended with ${signal ?? code}.`);
}

function adviceOn(what: string): string {
  if (NO_CHROMIUM.test(what))
    return "Check that Chromium starts (chromium --version), or name another one in CHROMIUM; then run it again.";
  if (NO_PAGE.test(what))
    return "Check that the app's page loads in a browser (npm start); once it does, run it again.";
  return "A busy machine or browser can cause this: run it again when less is going on here. If it keeps happening, name another Chromium in CHROMIUM.";
}
