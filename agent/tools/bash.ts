import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { MatrxError } from "@matrx/shared/errors.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import * as z from "zod";
import { excerptOf, wholeEnd } from "../jobs/excerpt.ts";
import { LogFollower } from "../jobs/follow.ts";
import type { Job } from "../jobs/job.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { Session } from "../sessions.ts";
import { defineTool, type ToolContext, type ToolResult } from "../tool.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;

const input = z.strictObject({
  command: z.string().min(1).describe("The shell command to execute"),
  description: z.string().max(500).optional().describe("What the command does, in a few words, for people"),
  timeout: z
    .int()
    .min(1)
    .optional()
    .describe(
      "Timeout in milliseconds (default 120000, max 600000, more is cut to that; in the background: none unless given)",
    ),
  run_in_background: z
    .boolean()
    .optional()
    .describe("If true, runs in background. Use BashOutput to check on it and TaskStop to end it."),
  yield_ms: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT_MS)
    .optional()
    .describe(
      "Answer after this many milliseconds if the command still runs, with its output so far; it goes on in the background, without a timeout unless one was given",
    ),
});

export function bashTool(jobs: Jobs) {
  return defineTool({
    name: "Bash",
    effect: "execute",
    description:
      "Execute a shell command on the device, with nothing to read from stdin. The working directory persists across calls of a session; variables do not. Returns stdout and stderr in the order they came, and the exit code if it is not 0. Long output is cut in the middle; the whole stays readable with BashOutput.",
    input,
    timeoutMs: TIMES.callMax,
    async handle(
      { command, description, timeout: wanted, run_in_background: background = false, yield_ms },
      context,
    ) {
      if (command.includes("\0") || !command.isWellFormed()) throw unreadable();
      const { session, grant } = context;
      const timeout = wanted && Math.min(wanted, MAX_TIMEOUT_MS);
      const remark = remarkOf(await leaveLostDirectory(session), timeout !== wanted);
      const cwd = session.cwd;
      const mayGoOn = background || yield_ms !== undefined;
      const timeoutMs = mayGoOn ? timeout : (timeout ?? DEFAULT_TIMEOUT_MS);
      context.signal.throwIfAborted();
      const job = await jobs.start({ grant: grant.id, command, description, cwd, background, timeoutMs });
      if (background) return begun(job, remark);
      if (!(await finished(job, yield_ms, context))) return await stillRunning(job, context, remark);
      const last = await job.lastCwd();
      // Commands of one session may overlap: only the one that went elsewhere moves it.
      if (last !== undefined && last !== cwd) session.cwd = last;
      return await resultOf(job, context, remark, timeoutMs);
    },
  });
}

/** Goes back to where the session began when its directory vanished, and says so. */
async function leaveLostDirectory(session: Session): Promise<string | undefined> {
  if (await isFolder(session.cwd)) return undefined;
  const lost = session.cwd;
  session.cwd = (await isFolder(session.start)) ? session.start : "/";
  return `The working directory ${lost} does not exist any more; this ran in ${session.cwd}`;
}

/** What is said before the output; undefined: nothing. */
function remarkOf(lost: string | undefined, isCapped: boolean): string | undefined {
  const capped = isCapped ? `timeout is ${MAX_TIMEOUT_MS} ms here, the most that there is` : undefined;
  return [lost, capped].filter((one) => one !== undefined).join(". ") || undefined;
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

function begun(job: Job, remark: string | undefined): ToolResult {
  const text = `Started in the background as ${job.id}. Read its output with BashOutput, end it with TaskStop.`;
  return {
    output: remark ? `[${remark}]\n${text}` : text,
    metadata: { bash_id: job.id, status: "running", cwd: job.record.cwd },
  };
}

/**
 * Waits for the end, or until the caller wants an answer; hands on live output. A cancelled call or one past its deadline
 * stops the command. Tells whether it has ended.
 */
async function finished(
  job: Job,
  yieldMs: number | undefined,
  { signal, output, log }: ToolContext,
): Promise<boolean> {
  const follower = new LogFollower(job, (offset, text) => output("stdout", offset, text));
  const onAbort = () => {
    const reason = isTimeout(signal.reason) ? "timed_out" : "cancelled";
    // If it cannot be stopped, the dispatcher gives the call up when the time to wind down is over.
    job.stop(reason).catch((err) => log.error({ err, job: job.id }, "a command could not be stopped"));
  };
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const waiting = new AbortController();
  try {
    const ended = job.ended.then(() => true);
    if (yieldMs === undefined) return await ended;
    const enough = sleep(yieldMs, false, { signal: waiting.signal }).catch(() => false);
    // A command that is being stopped is waited for.
    return (await Promise.race([ended, enough])) || (signal.aborted && (await ended));
  } finally {
    waiting.abort();
    signal.removeEventListener("abort", onAbort);
    await follower.finish();
  }
}

async function stillRunning(
  job: Job,
  { session, call }: ToolContext,
  remark: string | undefined,
): Promise<ToolResult> {
  const end = await wholeEnd(job.log);
  const { text, left } = await excerptOf(job.log, end, (from, to) => leftOut(job, from, to));
  session.setCursor(job.id, { call, from: 0, to: end });
  const said = remark ? `[${remark}]\n${text}` : text;
  const note = `${job.id} is still running, in the background now. Read on with BashOutput, end it with TaskStop`;
  return {
    output: `${said}${said === "" || said.endsWith("\n") ? "" : "\n"}[${note}]`,
    metadata: {
      bash_id: job.id,
      status: "running",
      cwd: job.record.cwd,
      exit_code: null,
      start_offset: 0,
      end_offset: end,
      truncated: left !== undefined,
      ...(left && { left_out: left }),
      duration_ms: Date.now() - job.record.started,
    },
  };
}

function leftOut({ id }: Job, from: number, to: number): string {
  return `${to - from} bytes are left out here; read them with BashOutput: bash_id "${id}", offset ${from}`;
}

async function resultOf(
  job: Job,
  { session, signal }: ToolContext,
  remark: string | undefined,
  timeoutMs: number | undefined,
): Promise<ToolResult> {
  const { status, exit, started, ended } = job.record;
  const end = await job.log.size();
  const { text, left } = await excerptOf(job.log, end, (from, to) => leftOut(job, from, to));
  const duration = (ended ?? Date.now()) - started;
  const metadata = {
    bash_id: job.id,
    status,
    cwd: session.cwd,
    exit_code: exit,
    start_offset: 0,
    end_offset: end,
    truncated: left !== undefined,
    ...(left && { left_out: left }),
    timed_out: status === "timed_out",
    duration_ms: duration,
  };
  const said = remark ? `[${remark}]\n${text}` : text;
  if (status === "timed_out") throw stopped("TIMEOUT", timeoutMessage(signal, timeoutMs), said, metadata);
  if (status === "cancelled") throw stopped("CANCELLED", cancelMessage(signal), said, metadata);
  const note = noteOf(job);
  const output = note ? `${said}${said === "" || said.endsWith("\n") ? "" : "\n"}[${note}]` : said;
  return { output, metadata, ...(exit !== null && { exit }) };
}

function noteOf({ record: { status, exit } }: Job): string | undefined {
  if (status === "stopped") return "Stopped by TaskStop";
  if (exit === null) return "The shell was killed, so there is no exit code";
  return exit === 0 ? undefined : `Exit code ${exit}`;
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof MatrxError && reason.code === "TIMEOUT";
}

function timeoutMessage(signal: AbortSignal, timeoutMs: number | undefined): string {
  if (signal.aborted && signal.reason instanceof MatrxError) return signal.reason.message;
  return `The command did not end within ${timeoutMs} ms and was stopped`;
}

function cancelMessage({ reason }: AbortSignal): string {
  return reason instanceof MatrxError ? reason.message : "The call was cancelled";
}

function stopped(
  code: "TIMEOUT" | "CANCELLED",
  message: string,
  text: string,
  metadata: Record<string, unknown>,
): MatrxError {
  const output = text === "" ? "It had written nothing." : `Output until then:\n${text}`;
  const hint =
    code === "TIMEOUT"
      ? "Look at what it changed before you run it again; give it a longer timeout, or run_in_background"
      : "Look at what it changed before you run it again";
  return new MatrxError({
    code,
    message: `${message}. What it had done until then stays done.\n${output}`,
    hint,
    hop: "tool",
    details: metadata,
  });
}

function unreadable(): MatrxError {
  return new MatrxError({
    code: "INVALID_PARAMETERS",
    message: "command: it holds a NUL character, or half of a character",
    hint: "Send text only; write bytes with printf",
    hop: "tool",
    details: { field: "command" },
  });
}
