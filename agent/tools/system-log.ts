/** The tool that reads the system's log. */
import { MatrxError, toolError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import { defineTool, type ToolResult } from "../core/tool.ts";
import type { FileAccess, Files } from "../fs/access.ts";
import { checkPattern, matchingLines } from "../jobs/filter.ts";
import type { LogSource } from "../platform/system-log.ts";
import { type LogTail, tailOfFile, tailOfProgram } from "../read/log-tail.ts";
import { lackOfSystemLog } from "../read/system-log-lack.ts";
import { withoutMisleading } from "../text/display-name.ts";
import { toolName } from "../text/tool-names.ts";

const DEFAULT_LINES = 50;
const MOST_LINES = 1000;
/** How many lines a filter searches. */
const LOOKED_THROUGH = 10_000;
const LINE_CHARS = 2000;
const ANSWER_CHARS = 50 * 1024;

const input = z.strictObject({
  lines: z.int().min(1).max(MOST_LINES).optional().describe("Number of lines (default 50, max 1000)"),
  filter: z.string().min(1).max(1000).optional().describe("Regex: only lines that match, of the last 10000"),
});

type Input = z.infer<typeof input>;

export function systemLogTool(files: Files) {
  return defineTool({
    name: "SystemLog",
    family: "system",
    effect: "read",
    confinable: true,
    description: "Read the last lines of the system log, oldest first.",
    details:
      "systemd's journal or /var/log on Linux, the unified log of macOS, the System event log of Windows. Lines are cut at 2000 characters, the answer at 50 KiB.",
    input,
    unavailable: () => lackOfSystemLog(files.platform),
    model: { prompt: "Read the end of the system log" },
    timeoutMs: 60_000,
    async handle(request, context) {
      if (request.filter !== undefined) checkPattern(request.filter);
      const access = await files.as(context);
      const wanted = request.filter === undefined ? (request.lines ?? DEFAULT_LINES) : LOOKED_THROUGH;
      const { tail, source } = await readLog(access, wanted, context.signal);
      return await resultOf(tail, source, request);
    },
  });
}

async function readLog(
  access: FileAccess,
  lines: number,
  signal: AbortSignal,
): Promise<{ tail: LogTail; source: LogSource }> {
  const searchPath = access.platform.systemPath(process.env);
  const reasons: string[] = [];
  let denied: unknown;
  for (const source of access.platform.systemLog) {
    try {
      await access.find(source.place, "read");
      const read = source.by === "program" ? tailOfProgram(source, { lines, searchPath, signal }) : undefined;
      const tail = await (read ?? tailOfFile(access, source.place, lines, signal));
      if (tail.lines.length > 0) return { tail, source };
      reasons.push(`${nameOf(source)}: empty`);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof MatrxError)) throw error;
      if (error.code === "PERMISSION_DENIED") denied ??= error;
      reasons.push(`${nameOf(source)}: ${error.message}`);
    }
  }
  throw denied ?? noLog(reasons);
}

function nameOf(source: LogSource): string {
  return source.by === "program" ? source.file : source.place;
}

async function resultOf(tail: LogTail, source: LogSource, request: Input): Promise<ToolResult> {
  const { lines = DEFAULT_LINES, filter } = request;
  const found = filter === undefined ? tail.lines : await filtered(filter, tail.lines);
  const last = found.slice(-lines).map(shownLine);
  const fitting = lastThatFit(last);
  const notes: string[] = [];
  if (fitting.length < last.length) {
    notes.push(`${last.length - fitting.length} older lines are left out; ask for fewer, or give a filter`);
  }
  if (filter !== undefined) {
    const older = found.length > last.length ? ", only the last ones are shown" : "";
    notes.push(`${found.length} of the last ${tail.lines.length} lines match${older}`);
  }
  if (tail.cut) notes.push("only the end of the log was read, because it is so large");
  return {
    output: [...notes.map((note) => `[${note}]`), ...fitting].join("\n"),
    metadata: {
      source: nameOf(source),
      lines: fitting.length,
      truncated: fitting.length < last.length || tail.cut,
      ...(filter !== undefined && { looked_through: tail.lines.length, matching: found.length }),
    },
  };
}

async function filtered(filter: string, lines: readonly string[]): Promise<string[]> {
  const matches = await matchingLines(filter, lines);
  return lines.filter((_, index) => matches[index]);
}

function shownLine(line: string): string {
  const cut = line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS).toWellFormed()} [cut]` : line;
  return withoutMisleading(cut);
}

function lastThatFit(lines: readonly string[]): readonly string[] {
  let chars = 0;
  for (let index = lines.length - 1; index >= 0; index--) {
    chars += (lines[index]?.length ?? 0) + 1;
    if (chars > ANSWER_CHARS) return lines.slice(index + 1);
  }
  return lines;
}

function noLog(reasons: readonly string[]): MatrxError {
  return toolError("NOT_FOUND", "This device has no system log that can be read", {
    hint: `Ask for the log of one program instead, with ${toolName("Bash")} or ${toolName("Read")}`,
    details: { looked_at: reasons },
  });
}
