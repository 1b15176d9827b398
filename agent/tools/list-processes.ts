/** The tool that lists processes. */

import { previewOf } from "@matrx/shared/redact.ts";
import * as z from "zod";
import { defineTool, type ToolResult } from "../core/tool.ts";
import type { Platform } from "../platform/platform.ts";
import { type ProcessFacts, processesOf } from "../platform/process-list.ts";
import { withoutMisleading } from "../text/display-name.ts";

const DEFAULT_LIMIT = 50;
/** Longer command lines are cut: limits in characters, in the metadata and in a row of the table. */
const COMMAND_CHARS = 1000;
const SHOWN_CHARS = 120;
const MiB = 1024 * 1024;

const ORDERS = {
  cpu: (a, b) => b.cpuPercent - a.cpuPercent,
  memory: (a, b) => b.memoryBytes - a.memoryBytes,
  pid: (a, b) => a.pid - b.pid,
  name: (a, b) => a.name.localeCompare(b.name),
  started: (a, b) => b.started - a.started,
} as const satisfies Record<string, (a: ProcessFacts, b: ProcessFacts) => number>;

const input = z.strictObject({
  filter: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe("A pid, or text in name, command or user, in any case"),
  sort: z
    .enum(["cpu", "memory", "pid", "name", "started"])
    .optional()
    .describe("Default cpu; cpu and memory: highest first"),
  limit: z.int().min(1).max(5000).optional().describe("Maximum number of processes to return (default 50)"),
});

export function listProcessesTool({ processList }: Platform) {
  return defineTool({
    name: "ListProcesses",
    family: "system",
    effect: "read",
    description:
      "List processes: pid, parent, user, CPU %, memory, start time, command. At most 50 unless limit says otherwise.",
    details:
      "CPU is the current percentage of one core, memory is resident; secrets in commands are masked. A table as text, rows in the metadata. `StopProcess` needs pid and started.",
    input,
    model: { prompt: "List running processes", omit: ["limit"] },
    timeoutMs: 20_000,
    async handle({ filter, sort = "cpu", limit = DEFAULT_LIMIT }, { signal }) {
      const all = await processesOf(processList, signal);
      const masked = all.map((row) => ({ ...row, command: previewOf(row.command, COMMAND_CHARS) }));
      const matching = filter ? masked.filter((row) => holds(row, filter.toLowerCase())) : masked;
      const ordered = matching.toSorted((a, b) => ORDERS[sort](a, b) || a.pid - b.pid);
      return resultOf(ordered.slice(0, limit), matching.length, all.length);
    },
  });
}

function holds({ pid, name, command, user }: ProcessFacts, text: string): boolean {
  return (
    String(pid) === text || [name, command, user ?? ""].some((part) => part.toLowerCase().includes(text))
  );
}

function resultOf(rows: readonly ProcessFacts[], matching: number, total: number): ToolResult {
  const left = matching - rows.length;
  const notes = [`${rows.length} of ${matching} matching processes, ${total} in all`];
  if (left > 0) notes.push(`${left} more: raise limit, or narrow it with filter`);
  return {
    output: [...tableOf(rows), ...notes.map((note) => `[${note}]`)].join("\n"),
    metadata: {
      processes: rows.map(wireRow),
      matching,
      total,
      truncated: left > 0,
    },
  };
}

function wireRow(row: ProcessFacts) {
  return {
    pid: row.pid,
    ppid: row.parent,
    name: row.name,
    command: row.command,
    user: row.user,
    cpu_percent: row.cpuPercent,
    memory_bytes: row.memoryBytes,
    started: new Date(row.started).toISOString(),
  };
}

const HEADS = ["PID", "PPID", "USER", "CPU%", "MEM MiB", "STARTED", "COMMAND"];

function tableOf(rows: readonly ProcessFacts[]): string[] {
  const cells = rows.map((row) => [
    String(row.pid),
    String(row.parent),
    row.user ?? "?",
    row.cpuPercent.toFixed(1),
    (row.memoryBytes / MiB).toFixed(1),
    new Date(row.started).toISOString(),
    oneLine(row.command),
  ]);
  const widths = HEADS.map((head, column) =>
    cells.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), head.length),
  );
  const lineOf = (row: readonly string[]) =>
    row
      .map((cell, column) => (column === HEADS.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join("  ");
  return [HEADS, ...cells].map(lineOf);
}

/** A command may contain line ends, which would look like more rows. */
function oneLine(command: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  const line = command.replace(/[\x00-\x1f\x7f]+/g, " ");
  const cut = line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS).toWellFormed()}...` : line;
  return withoutMisleading(cut);
}
