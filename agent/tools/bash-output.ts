/** BashOutput: reads, waits for and filters the output of a job. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import { defineTool, type ToolResult } from "../core/tool.ts";
import { ANSWER_CHARS } from "../jobs/excerpt.ts";
import { checkPattern, matchingLines } from "../jobs/filter.ts";
import type { Job } from "../jobs/job.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { bytesPage, MOST_BYTES, type Page, readPage } from "../jobs/page.ts";
import { type WaitEnd, type Waiting, waitFor } from "../jobs/wait.ts";
import { counted } from "../text/counted.ts";
import { overwrittenNote, type PlainOutput, plainOutput } from "../text/plain-output.ts";

const MAX_WAIT_MS = 30_000;
/** A command that wrote nothing for this long is reported as quiet, in milliseconds. */
const QUIET_AFTER_MS = 5000;

const input = z.strictObject({
  bash_id: z.string().min(1).describe("As `Bash` returned it"),
  filter: z.string().min(1).max(1000).optional().describe("Regex: show only lines that match"),
  offset: z
    .int()
    .optional()
    .describe(
      "Read from this byte of the output instead of from where this session stopped; negative: from the end",
    ),
  wait_ms: z
    .int()
    .min(0)
    .max(MAX_WAIT_MS)
    .optional()
    .describe("Wait up to this many milliseconds for more (max 30000)"),
  wait_for: z.enum(["output", "exit"]).optional().describe("any new output (default), or the end"),
  wait_bytes: z
    .int()
    .min(1)
    .max(ANSWER_CHARS)
    .optional()
    .describe("Wait for this many new bytes, or the end"),
  wait_pattern: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe("Wait until a new line matches this regex, or the end"),
  encoding: z
    .enum(["base64"])
    .optional()
    .describe("base64: return the bytes unchanged, without notes; the metadata has the facts"),
  byte_limit: z
    .int()
    .min(1)
    .max(MOST_BYTES)
    .optional()
    .describe("With base64: maximum number of bytes to return (default 65536)"),
  raw: z.boolean().optional().describe("Keep colour codes and what \\r wrote over"),
});

type Input = z.infer<typeof input>;

export function bashOutputTool(jobs: Jobs) {
  return defineTool({
    name: "BashOutput",
    family: "shell",
    effect: "read",
    confinable: true,
    description:
      "Read what a `Bash` command has written since the last check, and whether it is still running or how it ended. With a wait, answers once there is something new.",
    details:
      "At most 30000 characters at once; the next check continues from there. Other readers are not affected.",
    input,
    model: {
      prompt: "Read the output of a background command",
      needs: "Bash",
      omit: ["filter", "offset", "wait_bytes", "encoding", "byte_limit", "raw"],
    },
    timeoutMs: 60_000,
    async handle(request, { call, session, grant, signal }) {
      const job = jobs.find(request.bash_id, grant);
      const until = untilOf(request);
      checkEncoding(request);
      if (request.filter !== undefined) checkPattern(request.filter);
      const start = await startOf(job, request.offset, session.cursorOf(job.id, call));
      const ms = request.wait_ms ?? (isWait(request) ? MAX_WAIT_MS : 0);
      const filtering = request.filter !== undefined;
      const waited = await waitFor(job, { from: start, ms, until, filtering }, signal);
      if (request.encoding === "base64") {
        const page = await bytesPage(job, start, request.byte_limit);
        const to = page.metadata.end_offset;
        if (request.offset === undefined) session.setCursor(job.id, { call, from: start, to });
        return page;
      }
      const page = await readPage(job, start, filtering);
      const plain = request.raw ? undefined : plainOutput(page.text);
      const { text, leftOut } = await filtered(plain?.text ?? page.text, request);
      if (request.offset === undefined) session.setCursor(job.id, { call, from: start, to: page.end });
      const quiet = page.running ? await quietness(job) : undefined;
      const shown = { text, leftOut, plain };
      return resultOf(job, start, page, shown, { quiet, waited: ms > 0 ? waited : undefined });
    },
  });
}

async function startOf(job: Job, offset: number | undefined, cursor: number): Promise<number> {
  if (offset === undefined) return cursor;
  const size = await job.log.size();
  return offset < 0 ? Math.max(0, size + offset) : Math.min(offset, size);
}

function isWait({ wait_for, wait_bytes, wait_pattern }: Input): boolean {
  return wait_for !== undefined || wait_bytes !== undefined || wait_pattern !== undefined;
}

/** Only one kind of wait may be given. Throws MatrxError. */
function untilOf({ wait_for, wait_bytes, wait_pattern }: Input): Waiting["until"] {
  const given = Object.entries({ wait_for, wait_bytes, wait_pattern });
  const fields = given.flatMap(([field, value]) => (value === undefined ? [] : [field]));
  if (fields.length > 1)
    throw wrongTogether(fields, "Wait for one thing only; every wait also ends when the command does");
  if (wait_pattern !== undefined) {
    checkPattern(wait_pattern, "wait_pattern");
    return { pattern: wait_pattern };
  }
  return wait_bytes === undefined ? (wait_for ?? "output") : { bytes: wait_bytes };
}

/** Only lines or bytes may be given. Throws MatrxError. */
function checkEncoding({ encoding, filter, byte_limit }: Input): void {
  if (encoding === "base64" && filter !== undefined)
    throw wrongTogether(["encoding", "filter"], "Leave one out");
  if (encoding !== undefined || byte_limit === undefined) return;
  throw toolError("INVALID_PARAMETERS", "byte_limit: works only with encoding base64", {
    hint: "Set encoding to base64, or omit byte_limit",
    details: { field: "byte_limit" },
  });
}

interface Quietness {
  /** Milliseconds since its last output, or since it began. */
  readonly ms: number;
  readonly waitsForKeys: boolean;
}

async function quietness(job: Job): Promise<Quietness> {
  const ms = Math.max(0, Math.round(Date.now() - (await job.log.lastWrite())));
  return { ms, waitsForKeys: ms > QUIET_AFTER_MS && (await job.waitsForKeys()) };
}

async function filtered(
  text: string,
  { filter }: Input,
): Promise<{ text: string; leftOut: number | undefined }> {
  if (filter === undefined || text === "") return { text, leftOut: filter === undefined ? undefined : 0 };
  const lines = text.split("\n");
  const lastIsEmpty = lines.at(-1) === "";
  if (lastIsEmpty) lines.pop();
  const matches = await matchingLines(
    filter,
    lines.map((line) => line.replace(/\r$/, "")),
  );
  const shown = lines.filter((_, index) => matches[index]);
  const end = shown.length > 0 && lastIsEmpty ? "\n" : "";
  return { text: shown.join("\n") + end, leftOut: lines.length - shown.length };
}

interface Shown {
  readonly text: string;
  /** Lines that did not match the filter; undefined without a filter. */
  readonly leftOut: number | undefined;
  /** Undefined if the output is shown raw. */
  readonly plain: PlainOutput | undefined;
}

function resultOf(
  job: Job,
  start: number,
  page: Page,
  { text, leftOut, plain }: Shown,
  { quiet, waited }: { quiet: Quietness | undefined; waited: WaitEnd | undefined },
): ToolResult {
  const { status, exit, started, ended } = job.record;
  const more = page.size - page.end;
  const cut = Math.max(0, page.begin - start);
  const notes: string[] = [];
  if (leftOut) notes.push(`${counted(leftOut, "line")} did not match the filter`);
  const overwritten = plain && overwrittenNote(plain, job.id);
  if (overwritten !== undefined) notes.push(overwritten);
  if (more > 0 && text !== "")
    notes.push(`${counted(more, "more byte")} ${more === 1 ? "follows" : "follow"}; check again`);
  notes.push(statusText(job, page.running));
  if (waited === "time" && page.running) notes.push("the wait timed out");
  if (quiet && quiet.ms > QUIET_AFTER_MS) notes.push(quietText(quiet));
  const gap = cut > 3 ? `[${cut} bytes were cut from the log here]\n` : "";
  const body = gap + text;
  const endsMidLine = body !== "" && !body.endsWith("\n");
  return {
    output: `${body}${endsMidLine ? "\n" : ""}[${notes.join("; ")}]`,
    metadata: {
      bash_id: job.id,
      status: page.running ? "running" : status,
      exit_code: page.running ? null : exit,
      start_offset: page.begin,
      end_offset: page.end,
      log_bytes: page.size,
      more: more > 0,
      // Says that the line break before the note is ours, not the command's.
      ...(endsMidLine && { ends_mid_line: true }),
      ...(plain?.isChanged && { plain: true }),
      ...(leftOut !== undefined && { lines_left_out: leftOut }),
      ...(cut > 3 && { cut_bytes: cut }),
      ...(waited && { wait_ended: waited }),
      ...(quiet && { quiet_ms: quiet.ms, waits_for_keys: quiet.waitsForKeys }),
      duration_ms: (ended ?? Date.now()) - started,
    },
  };
}

function quietText({ ms, waitsForKeys }: Quietness): string {
  const hint = waitsForKeys ? ", and one of its processes seems to be waiting for input" : "";
  return `no output for ${Math.floor(ms / 1000)} s${hint}`;
}

function statusText({ id, record: { status, exit } }: Job, running: boolean): string {
  if (running || status === "running") return `${id} is running`;
  if (status === "completed") return `${id} completed with exit code ${exit}`;
  if (status === "timed_out") return `${id} was stopped: it ran out of time`;
  if (status === "lost") return `${id} has ended; its exit code is not known`;
  return `${id} was stopped`;
}

function wrongTogether(fields: readonly string[], hint: string): MatrxError {
  return toolError("INVALID_PARAMETERS", `${fields.join(" and ")} cannot be given together`, {
    hint,
    details: { fields },
  });
}
