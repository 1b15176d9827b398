/** Bash: runs a command as a job, in the foreground or background. */
import { isUtf8 } from "node:buffer";
import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { agentError, MatrxError, toolError } from "@matrx/shared/errors.ts";
import { type GrantId, makeSessionId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { visibleLine } from "@matrx/shared/question.ts";
import * as z from "zod";
import type { Caller } from "../core/gate.ts";
import { Session } from "../core/sessions.ts";
import { defineTool, type ResumeContext, type ToolContext, type ToolResult } from "../core/tool.ts";
import { excerptOf, wholeEnd } from "../jobs/excerpt.ts";
import { LogFollower } from "../jobs/follow.ts";
import type { Job } from "../jobs/job.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { reachOf } from "../sandbox/reach.ts";
import type { Confinement, Sandbox } from "../sandbox/sandbox.ts";
import { readerNote, sandboxNote } from "../sandbox/sandbox-note.ts";
import { counted } from "../text/counted.ts";
import { overwrittenNote, plainOutput } from "../text/plain-output.ts";
import { toolName } from "../text/tool-names.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;
/** Limit on a command's stdin: as base64 it fits into one call together with the command. */
const MAX_STDIN_BYTES = 2 * 1024 * 1024;
/** How much of its stdin a question shows, in bytes. */
const STDIN_SHOWN = 350;

const input = z.strictObject({
  command: z.string().min(1).describe("The command"),
  description: z.string().max(500).optional().describe("What it does, in a few words, for the user"),
  timeout: z
    .int()
    .min(1)
    .optional()
    .describe("Milliseconds (default 120000, at most 600000; in the background: none)"),
  run_in_background: z
    .boolean()
    .optional()
    .describe("Return at once; continue with `BashOutput` and `TaskStop`"),
  yield_ms: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT_MS)
    .optional()
    .describe(
      "If it is still running after this many milliseconds, return the output so far; it continues in the background, without a timeout unless one was given",
    ),
  read_only: z
    .boolean()
    .optional()
    .describe("Run where nothing can be written and there is no network: usually needs no approval"),
  stdin_base64: z
    .string()
    .max(4 * Math.ceil(MAX_STDIN_BYTES / 3))
    .refine((text) => Buffer.from(text, "base64").toString("base64") === text, "must be base64")
    .optional()
    .describe("stdin for the command, as base64 (at most 2 MiB; default: empty)"),
});

export function bashTool(jobs: Jobs, sandbox: Sandbox) {
  return defineTool({
    name: "Bash",
    family: "shell",
    effect: "execute",
    description:
      "Run a shell command. The working directory persists across calls, variables do not; stdin is empty. Returns stdout and stderr in order, and the exit code if it is not 0; long output is cut in the middle. For servers and other long-running commands set run_in_background. To read, search or edit files, use the other tools.",
    details:
      "All of the output stays readable with `BashOutput`. Commands of AI grants, and of callers who are limited to paths, run in a sandbox: they reach the granted folders, the system's programs, and by HTTP the domains that the grant names; `/tmp` and, unless it is granted, the home folder are empty for each command. Without a working sandbox they are refused. A read-only command runs there for every caller, the owner too: it can change nothing of the machine, has no network, leaves nothing for later commands, not even its working directory, and ends with its call. It counts as reading: rules that ask before commands run don't ask about it, unless they name `Bash`.",
    input,
    model: { prompt: "Run shell commands (cwd persists between calls)", omit: ["yield_ms", "stdin_base64"] },
    timeoutMs: TIMES.callMax,
    prepare({ command, read_only, run_in_background, yield_ms }) {
      if (read_only && (run_in_background || yield_ms !== undefined)) throw endsWithCall(yield_ms);
      return { subjects: jobs.subjects(command) };
    },
    async preview({ command, run_in_background, read_only, stdin_base64 }, { session, rights }) {
      if (command.includes("\0") || !command.isWellFormed()) throw unreadable();
      const confinement = await confinementOf(sandbox, read_only, { session, rights });
      const lost = confinement ? undefined : await leaveLostDirectory(session);
      const cwd = confinement?.rules.cwd ?? session.cwd;
      const how = run_in_background ? "Run in the background in" : read_only ? "Run read-only in" : "Run in";
      return {
        summary: `${how} ${cwd}: ${command}`,
        command: { text: command, cwd, ...(confinement && { sandbox: reachOf(confinement) }) },
        ...(confinement && { bound: { "the sandbox": JSON.stringify(reachOf(confinement)) } }),
        warnings: [
          ...(lost === undefined ? [] : [`The working directory ${lost} no longer exists`]),
          ...(stdin_base64 === undefined ? [] : [stdinWarning(Buffer.from(stdin_base64, "base64"))]),
        ],
      };
    },
    async handle(
      {
        command,
        description,
        timeout: wanted,
        run_in_background: background = false,
        yield_ms,
        read_only: readOnly = false,
        stdin_base64,
      },
      context,
    ) {
      if (command.includes("\0") || !command.isWellFormed()) throw unreadable();
      const { session, grant, call } = context;
      const timeout = wanted && Math.min(wanted, MAX_TIMEOUT_MS);
      const confinement = await confinementOf(sandbox, readOnly, context);
      const lost = confinement ? undefined : await leaveLostDirectory(session);
      // The folder in the sandbox follows from this one and from the rights, which are approved too.
      context.approved?.checkCwd(session.cwd);
      const cwd = confinement?.rules.cwd ?? session.cwd;
      const unseen = readOnly && !confinement?.isGranted(session.cwd) ? session.cwd : undefined;
      const remark = remarkOf({ lost, unseen, cwd, isCapped: timeout !== wanted });
      const mayGoOn = background || yield_ms !== undefined;
      const timeoutMs = mayGoOn ? timeout : (timeout ?? DEFAULT_TIMEOUT_MS);
      context.signal.throwIfAborted();
      const stdin = stdin_base64 === undefined ? undefined : Buffer.from(stdin_base64, "base64");
      const { id, owner } = grant;
      const request = {
        grant: id,
        owner,
        call,
        answerMs: yield_ms,
        command,
        description,
        background,
        readOnly,
        stdin,
      };
      const job = await jobs.start({ ...request, cwd, timeoutMs, confine: confinement?.wrap });
      if (background) return begun(job, remark);
      if (!(await finished(job, yield_ms, context))) return await stillRunning(job, context, remark);
      const last = await job.lastCwd();
      // Commands of one session may overlap: only one that changed directory moves the session, and none that only reads.
      if (!readOnly && last !== undefined && last !== cwd && (confinement?.isGranted(last) ?? true))
        session.cwd = last;
      // A session whose own directory is not granted stays there; its commands run elsewhere.
      const now = (confinement?.isGranted(session.cwd) ?? true) ? session.cwd : cwd;
      const result = await resultOf(job, { cwd: now, signal: context.signal }, remark, timeoutMs);
      const noteFor = readOnly ? readerNote : sandboxNote;
      const note = confinement && noteFor(result.output, confinement.rules);
      return note === undefined ? result : { ...result, output: withNotes(result.output, [note]) };
    },
    resume(context) {
      const job = jobs.ofCall(context.call);
      return job && resumed(job, context);
    },
  });
}

/** Undefined: it runs free. Throws MatrxError. */
async function confinementOf(
  sandbox: Sandbox,
  readOnly: boolean | undefined,
  caller: Caller,
): Promise<Confinement | undefined> {
  if (readOnly) return await sandbox.confineReader(caller);
  return caller.rights.shell === "sandbox" ? await sandbox.confine(caller) : undefined;
}

/** The result of a command that outlived the agent that started it. */
async function resumed(job: Job, { call, signal, log }: ResumeContext): Promise<ToolResult> {
  const { background, answer_by, cwd, grant, started, deadline } = job.record;
  if (background) return begun(job, undefined);
  const yieldMs = answer_by === undefined ? undefined : Math.max(0, answer_by - Date.now());
  const session = new Session(makeSessionId(), grant as GrantId, cwd);
  if (!(await finished(job, yieldMs, { signal, output: () => undefined, log })))
    return await stillRunning(job, { session, call }, undefined);
  if (job.record.status === "lost") throw await endNotSeen(job);
  return await resultOf(
    job,
    { cwd: (await job.lastCwd()) ?? cwd, signal },
    undefined,
    deadline === null ? undefined : deadline - started,
  );
}

/** If the session's directory has vanished, returns to where the session began; resolves with the lost one. */
async function leaveLostDirectory(session: Session): Promise<string | undefined> {
  if (await isFolder(session.cwd)) return undefined;
  const lost = session.cwd;
  session.cwd = (await isFolder(session.start)) ? session.start : "/";
  return lost;
}

/** A shell may read its commands from stdin. What is not shown is counted. */
function stdinWarning(stdin: Buffer): string {
  let shown = Math.min(stdin.length, STDIN_SHOWN);
  while (visibleLine(textOf(stdin, shown), Number.POSITIVE_INFINITY).length > STDIN_SHOWN)
    shown = Math.floor(shown * 0.8);
  const hidden = stdin.length - shown;
  const rest = hidden > 0 ? `, of which the last ${counted(hidden, "byte")} are not shown here` : "";
  return `It reads ${counted(stdin.length, "byte")} from stdin${rest}: ${textOf(stdin, shown)}`;
}

function textOf(stdin: Buffer, bytes: number): string {
  const begin = stdin.subarray(0, bytes);
  return isUtf8(begin) || stdin.length > bytes ? begin.toString() : "[not text]";
}

interface Remarkable {
  readonly lost: string | undefined;
  /** The session's directory, if the command does not see it. */
  readonly unseen: string | undefined;
  readonly cwd: string;
  readonly isCapped: boolean;
}

/** A remark before the output, if there is something to say. */
function remarkOf({ lost, unseen, cwd, isCapped }: Remarkable): string | undefined {
  const moved =
    lost === undefined ? undefined : `The working directory ${lost} no longer exists; this ran in ${cwd}`;
  const elsewhere =
    unseen === undefined ? undefined : `Read-only commands do not see ${unseen}; this ran in ${cwd}`;
  const capped = isCapped ? `timeout was reduced to ${MAX_TIMEOUT_MS} ms, the maximum` : undefined;
  return [moved, elsewhere, capped].filter((one) => one !== undefined).join(". ") || undefined;
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

function begun(job: Job, remark: string | undefined): ToolResult {
  const text = `Started in the background as ${job.id}. Read its output with ${toolName("BashOutput")}, stop it with ${toolName("TaskStop")}.`;
  return {
    output: remark ? `[${remark}]\n${text}` : text,
    metadata: { bash_id: job.id, status: "running", cwd: job.record.cwd },
  };
}

/**
 * Waits for the command to end, or until the caller wants an answer, and passes on live output. Cancellation and deadline
 * stop the command. Returns whether it has ended.
 */
async function finished(
  job: Job,
  yieldMs: number | undefined,
  { signal, output, log }: Pick<ToolContext, "signal" | "output" | "log">,
): Promise<boolean> {
  const follower = new LogFollower(job, (offset, text) => output("stdout", offset, text));
  const onAbort = () => {
    const reason = isTimeout(signal.reason) ? "timed_out" : "cancelled";
    // If it cannot be stopped, the dispatcher gives up on the call once the time to wind down is over.
    job.stop(reason).catch((err) => log.error({ err, job: job.id }, "a command could not be stopped"));
  };
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const waiting = new AbortController();
  try {
    const ended = job.ended.then(() => true);
    if (yieldMs === undefined) return await ended;
    const enough = sleep(yieldMs, false, { signal: waiting.signal }).catch(() => false);
    // Wait for a command that is being stopped.
    return (await Promise.race([ended, enough])) || (signal.aborted && (await ended));
  } finally {
    waiting.abort();
    signal.removeEventListener("abort", onAbort);
    await follower.finish();
  }
}

async function stillRunning(
  job: Job,
  { session, call }: Pick<ToolContext, "session" | "call">,
  remark: string | undefined,
): Promise<ToolResult> {
  const end = await wholeEnd(job.log);
  const { text, left } = await excerptOf(job.log, end, (from, to) => leftOut(job, from, to));
  session.setCursor(job.id, { call, from: 0, to: end });
  const plain = plainOutput(text);
  const said = remark ? `[${remark}]\n${plain.text}` : plain.text;
  const note = `${job.id} is still running, now in the background. Read more with ${toolName("BashOutput")}, stop it with ${toolName("TaskStop")}`;
  return {
    output: withNotes(said, [overwrittenNote(plain, job.id), note]),
    metadata: {
      bash_id: job.id,
      status: "running",
      cwd: job.record.cwd,
      exit_code: null,
      start_offset: 0,
      end_offset: end,
      truncated: left !== undefined,
      ...(left && { left_out: left }),
      ...(plain.isChanged && { plain: true }),
      duration_ms: Date.now() - job.record.started,
    },
  };
}

function withNotes(text: string, notes: readonly (string | undefined)[]): string {
  const given = notes.filter((note) => note !== undefined);
  if (given.length === 0) return text;
  return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}[${given.join("; ")}]`;
}

function leftOut({ id }: Job, from: number, to: number): string {
  return `${to - from} bytes are left out here; read them with ${toolName("BashOutput")}: bash_id "${id}", offset ${from}`;
}

async function resultOf(
  job: Job,
  { cwd, signal }: { readonly cwd: string; readonly signal: AbortSignal },
  remark: string | undefined,
  timeoutMs: number | undefined,
): Promise<ToolResult> {
  const { status, exit, started, ended } = job.record;
  const end = await job.log.size();
  const { text, left } = await excerptOf(job.log, end, (from, to) => leftOut(job, from, to));
  const duration = (ended ?? Date.now()) - started;
  const plain = plainOutput(text);
  const metadata = {
    bash_id: job.id,
    status,
    cwd,
    exit_code: exit,
    start_offset: 0,
    end_offset: end,
    truncated: left !== undefined,
    ...(left && { left_out: left }),
    ...(plain.isChanged && { plain: true }),
    ...(job.record.read_only && { read_only: true }),
    timed_out: status === "timed_out",
    duration_ms: duration,
  };
  const said = remark ? `[${remark}]\n${plain.text}` : plain.text;
  if (status === "timed_out") throw stopped("TIMEOUT", timeoutMessage(signal, timeoutMs), said, metadata);
  if (status === "cancelled") throw stopped("CANCELLED", cancelMessage(signal), said, metadata);
  const output = withNotes(said, [overwrittenNote(plain, job.id), noteOf(job)]);
  return { output, metadata, ...(exit !== null && { exit }) };
}

function noteOf({ record: { status, exit } }: Job): string | undefined {
  if (status === "stopped") return `Stopped by ${toolName("TaskStop")}`;
  if (exit === null) return "The shell was killed, so there is no exit code";
  return exit === 0 ? undefined : `Exit code ${exit}`;
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof MatrxError && reason.code === "TIMEOUT";
}

function timeoutMessage(signal: AbortSignal, timeoutMs: number | undefined): string {
  if (signal.aborted && signal.reason instanceof MatrxError) return signal.reason.message;
  const unit = timeoutMs !== undefined && timeoutMs < 1000 ? `; timeout is in ms: 30 s are 30000` : "";
  return `The command did not end within ${timeoutMs} ms and was stopped${unit}`;
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
  if (metadata.read_only)
    return toolError(code, `${message}. It changed nothing.\n${outputSoFar(text)}`, {
      hint: code === "TIMEOUT" ? "Allow a longer timeout" : "Run it again",
      details: metadata,
    });
  const check = "Check what it changed before you run it again";
  return toolError(code, `${message}. What it did until then is not undone.\n${outputSoFar(text)}`, {
    hint: code === "TIMEOUT" ? `${check}; allow a longer timeout, or set run_in_background` : check,
    details: metadata,
  });
}

function outputSoFar(text: string): string {
  return text === "" ? "It wrote nothing." : `Output so far:\n${text}`;
}

/** The error for a command that was killed, or whose machine went down: its output is known, but not what it did. */
async function endNotSeen(job: Job): Promise<MatrxError> {
  const end = await job.log.size();
  const { text } = await excerptOf(job.log, end, (from, to) => leftOut(job, from, to));
  return agentError(
    "OUTCOME_UNKNOWN",
    `The command ended while the agent was not running, so its exit code is not known.\n${outputSoFar(plainOutput(text).text)}`,
    {
      hint: "Check what it changed before you decide; it is never run again automatically",
      details: { bash_id: job.id, status: job.record.status, exit_code: null, end_offset: end },
    },
  );
}

function unreadable(): MatrxError {
  return toolError("INVALID_PARAMETERS", "command: contains a NUL character or half a character", {
    hint: "Send text only; write bytes with printf",
    details: { field: "command" },
  });
}

/** A call that only reads may be made again: what it left running would run twice. */
function endsWithCall(yieldMs: number | undefined): MatrxError {
  const field = yieldMs === undefined ? "run_in_background" : "yield_ms";
  return toolError("INVALID_PARAMETERS", `${field}: a read-only command ends with its call`, {
    hint: `Leave out ${field} or read_only`,
    details: { field },
  });
}
