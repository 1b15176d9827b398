/** One run of ripgrep: streams its records, and never leaves a process behind. */
import { type ChildProcess, spawn } from "node:child_process";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import { bareEnvironment } from "../platform/environment.ts";
import type { Missed } from "./engine.ts";

interface RipgrepRun {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The descriptor of an open file that it reads, if any. */
  readonly input?: number;
  /** The byte after each record. */
  readonly end: number;
  readonly missed: Missed;
  readonly signal: AbortSignal;
  /** Called again and again once it has written nothing for long; resolves with whether it waits for nothing that will come. */
  readonly onSilence: (pid: number) => Promise<boolean>;
}

/** Silence after which it may be blocked; in milliseconds. A very large search may be silent for longer too. */
const SILENCE = 1000;
const LOOK_EVERY = 100;
const BATCH = 64;
/** How much of stderr is kept, in bytes. */
const MOST_WORDS = 256 * 1024;

/** Ends ripgrep as soon as the caller has enough. Throws MatrxError `INVALID_PARAMETERS` for a bad pattern. */
export async function* ripgrepRecords(run: RipgrepRun): AsyncGenerator<Buffer[], void> {
  if (run.signal.aborted) return;
  const child = spawn(run.file, run.args, {
    cwd: run.cwd,
    env: bareEnvironment(),
    stdio: [run.input ?? "ignore", "pipe", "pipe"],
    windowsHide: true,
  });
  const ended = endOf(child);
  let words = "";
  child.stderr?.on("data", (data: Buffer) => {
    if (words.length < MOST_WORDS) words += data.toString("utf8");
  });
  const kill = () => child.kill("SIGKILL");
  run.signal.addEventListener("abort", kill, { once: true });
  let whole = false;
  let written = performance.now();
  let wasSilent = false;
  const look = async () => {
    wasSilent ||= performance.now() - written > SILENCE;
    if (!wasSilent || child.pid === undefined || !(await run.onSilence(child.pid))) return;
    run.missed.atPipe = true;
    kill();
  };
  const watch = setInterval(() => void look(), LOOK_EVERY);
  try {
    let rest: Buffer = Buffer.alloc(0);
    for await (const piece of child.stdout as AsyncIterable<Buffer>) {
      written = performance.now();
      const bytes = rest.length > 0 ? Buffer.concat([rest, piece]) : piece;
      let records: Buffer[] = [];
      let from = 0;
      for (let to = bytes.indexOf(run.end); to >= 0; to = bytes.indexOf(run.end, from)) {
        records.push(bytes.subarray(from, to));
        from = to + 1;
        // A consumer that has enough stops here, and the rest is not parsed.
        if (records.length < BATCH) continue;
        yield records;
        records = [];
      }
      rest = bytes.subarray(from);
      if (records.length > 0) yield records;
    }
    whole = true;
  } finally {
    clearInterval(watch);
    run.signal.removeEventListener("abort", kill);
    if (!whole) kill();
    await (whole ? ended.closed : ended.gone);
  }
  if (run.signal.aborted) return;
  noteComplaints(words, await ended.closed, run.missed);
}

/** `gone` resolves when the process has ended; `closed` when all its output has been read too, with the exit code. */
function endOf(child: ChildProcess) {
  const gone = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<number | null>();
  child.once("exit", () => gone.resolve());
  child.once("close", (code) => closed.resolve(code));
  child.once("error", (error) => {
    if (child.pid !== undefined) return;
    gone.resolve();
    closed.reject(cannotRun(error));
  });
  // Nobody awaits it if the caller has enough.
  closed.promise.catch(() => undefined);
  return { gone: gone.promise, closed: closed.promise };
}

/** A complaint about a file or folder, which it does not always name; any other is about the pattern. */
const PLACE = /^(?:rg: )?\.[\\/]|\(os error \d+\)\s*$/;

/** A complaint has several lines if a name contains a line break. */
function noteComplaints(words: string, exit: number | null, missed: Missed): void {
  const isPlace = (complaint: string) => PLACE.test(complaint);
  // Ignores an incomplete last line.
  const whole = words.slice(0, words.lastIndexOf("\n") + 1);
  const complaints = whole.split(/^(?=rg: |\.[\\/])/m).filter((one) => one.trim() !== "");
  missed.unreadable += complaints.filter(isPlace).length;
  const others = complaints.filter((one) => !isPlace(one));
  if (exit === 2 && others.length > 0) throw badPattern(others.join("\n"));
}

/** ripgrep wraps the pattern in `(?:` and `)`. */
const PATTERN_BEGINS = 3;
/** A missing part is only noticed at the end, beyond that `)`, so the position is useless. */
const MISSED_AT_END = /\bmissing\b/;

/** Its message shows the pattern twice, and the complaints of two engines. */
function badPattern(words: string): MatrxError {
  const [, place, byPcre] = /^PCRE2: error compiling pattern at offset (\d+): (.+)$/m.exec(words) ?? [];
  const why =
    byPcre ?? /^error: (.+)$/m.exec(words)?.[1] ?? words.replace(/^rg: /, "").split("\n", 1)[0] ?? "";
  const where =
    place === undefined || MISSED_AT_END.test(why)
      ? ""
      : ` (at byte ${Math.max(1, Number(place) - PATTERN_BEGINS + 1)})`;
  return toolError("INVALID_PARAMETERS", `pattern: ${why.slice(0, 500)}${where}`, {
    hint: "Correct the pattern, or search for it literally with literal=true",
    details: { field: "pattern" },
  });
}

function cannotRun(cause: Error): MatrxError {
  return toolError("TOOL_EXECUTION_FAILED", `ripgrep could not be run: ${cause.message}`, {
    hint: "Try again; if it happens again, restart the agent",
    cause,
  });
}
