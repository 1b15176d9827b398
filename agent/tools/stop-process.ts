/** The tool that ends a process. */
import { setTimeout as sleep } from "node:timers/promises";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { previewOf } from "@matrx/shared/redact.ts";
import * as z from "zod";
import { defineTool, type ToolResult } from "../core/tool.ts";
import type { Files } from "../fs/access.ts";
import type { Platform } from "../platform/platform.ts";
import { type ProcessFacts, processesOf } from "../platform/process-list.ts";
import { shownName } from "../text/display-name.ts";
import { toolName } from "../text/tool-names.ts";

/** How often to check whether it has ended, and how long after a kill, in milliseconds. */
const LOOK_EVERY = 50;
const AFTER_KILL = 2000;
const COMMAND_CHARS = 200;

const input = z.strictObject({
  pid: z
    .int()
    .min(1)
    .max(2 ** 31 - 1)
    .describe("As listed"),
  started: z.iso.datetime({ offset: true }).describe("As listed, because pids are reused"),
});

export function stopProcessTool({ platform, protectedPaths }: Files) {
  /** The process to stop. Throws MatrxError if it is another one by now, or must not be stopped. */
  const findTarget = async ({ pid, started }: z.infer<typeof input>, signal: AbortSignal) => {
    // Read first: while the start time is unchanged, the pid has not been reused for another process.
    const began = await platform.processes.beginOf(pid);
    const all = await processesOf(platform.processList, signal);
    const target = all.find((row) => row.pid === pid);
    if (!target || began === undefined) throw notThere(pid);
    checkStart(target, Date.parse(started), platform.processList.startedWithinMs);
    // Only Matrx's own programs have these paths in their command lines.
    const marks = protectedPaths().closed;
    const why = protectionOf(target, all, { pid: process.pid, marks });
    if (why) throw refused(target, why);
    return { target, began, all };
  };
  return defineTool({
    name: "StopProcess",
    family: "system",
    effect: "execute",
    description:
      "Stop a process, by pid and start time from `ListProcesses`. For `Bash` commands use `TaskStop`.",
    details:
      "Asks it to end, and kills it after three seconds. Names its children, which keep running. Refuses the agent, the processes that started it, and other Matrx programs.",
    input,
    model: { prompt: "End a process", needs: "ListProcesses" },
    timeoutMs: TIMES.killAfter + 30_000,
    async preview(request, { signal }) {
      const { target, began } = await findTarget(request, signal);
      const { pid, name, user, command } = target;
      const whose = user === null ? "" : ` of ${user}`;
      return {
        summary: `Stop process ${pid}${whose} (${shownName(name)}): ${command}`,
        bound: { "the process": `${pid} ${began}` },
      };
    },
    async handle({ pid, started }, { signal }) {
      const { target, began, all } = await findTarget({ pid, started }, signal);
      const children = all.filter((row) => row.parent === pid).map((row) => row.pid);
      const how = await end(platform, { pid, began }, signal);
      return resultOf(target, how, children);
    },
  });
}

interface OwnProcess {
  readonly pid: number;
  /** Paths that only appear in command lines of Matrx's own programs: its protected folders. */
  readonly marks: readonly string[];
}

/** The command line of an agent or a local server, by whatever path it was started. */
const AGENT = /(?:^|[\s/\\])matrx(?:\.js)?["']?\s+(?:up|serve)\b/;

/** Why a process must not be ended, or undefined. */
export function protectionOf(
  target: ProcessFacts,
  all: readonly ProcessFacts[],
  own: OwnProcess,
): string | undefined {
  if (target.pid <= 1) return "it is the system's first process";
  if (target.pid === own.pid) return "it is the agent itself";
  if (ancestorsOf(own.pid, all).has(target.pid)) return "the agent was started by it";
  const { command } = target;
  const isMatrx = AGENT.test(command) || own.marks.some((mark) => command.includes(mark));
  return isMatrx ? "it is a Matrx program on this machine" : undefined;
}

function ancestorsOf(pid: number, all: readonly ProcessFacts[]): Set<number> {
  const parents = new Map(all.map((row) => [row.pid, row.parent]));
  const found = new Set<number>();
  for (let at = parents.get(pid); at !== undefined && at > 0 && !found.has(at); at = parents.get(at))
    found.add(at);
  return found;
}

type Ending = "terminated" | "killed" | "gone";

interface Target {
  readonly pid: number;
  readonly began: string;
}

async function end({ processes }: Platform, { pid, began }: Target, signal: AbortSignal): Promise<Ending> {
  const lives = async () => (await processes.beginOf(pid)) === began;
  if (!(await lives())) return "gone";
  const endedWithin = async (ms: number) => {
    for (const until = performance.now() + ms; performance.now() < until; await sleep(LOOK_EVERY)) {
      if (!(await lives())) return true;
      signal.throwIfAborted();
    }
    return false;
  };
  send(pid, "SIGTERM");
  if (await endedWithin(TIMES.killAfter)) return "terminated";
  if (await lives()) send(pid, "SIGKILL");
  if (await endedWithin(AFTER_KILL)) return "killed";
  throw toolError(
    "TOOL_EXECUTION_FAILED",
    `Process ${pid} was killed but has not ended: the system holds it, for example in a read from a drive that doesn't respond`,
    { hint: `Look again later with ${toolName("ListProcesses")}`, details: { pid } },
  );
}

function send(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ESRCH") return;
    if (code !== "EPERM") throw error;
    throw toolError(
      "PERMISSION_DENIED",
      `Process ${pid} belongs to another user, and the system does not let the agent stop it`,
      { hint: "Its owner or an administrator can", details: { pid } },
    );
  }
}

function resultOf(target: ProcessFacts, how: Ending, children: readonly number[]): ToolResult {
  const { pid, name } = target;
  const what = `Process ${pid} (${shownName(name)})`;
  const said = {
    terminated: `${what} was asked to end, and did`,
    killed: `${what} did not end within ${TIMES.killAfter} ms and was killed`,
    gone: `${what} had already ended`,
  }[how];
  const rest = children.length > 0 ? `; processes it started keep running: ${children.join(", ")}` : "";
  return {
    output: said + rest,
    metadata: { pid, name, command: previewOf(target.command, COMMAND_CHARS), how, children },
  };
}

function checkStart(target: ProcessFacts, wanted: number, within: number): void {
  if (Math.abs(target.started - wanted) <= within) return;
  const started = new Date(target.started).toISOString();
  throw toolError(
    "CONFLICT",
    `Process ${target.pid} is a different one now: ${shownName(target.name)}, started ${started}`,
    {
      hint: `Nothing was stopped; look with ${toolName("ListProcesses")}`,
      details: { pid: target.pid, started },
    },
  );
}

function notThere(pid: number): MatrxError {
  return toolError("NOT_FOUND", `There is no process ${pid}`, {
    hint: `It may have ended; look with ${toolName("ListProcesses")}`,
    details: { pid },
  });
}

function refused({ pid, name }: ProcessFacts, why: string): MatrxError {
  return toolError("PERMISSION_DENIED", `Process ${pid} (${shownName(name)}) can't be stopped: ${why}`, {
    hint: "Use the matrx command, or npm start, on the device itself",
    details: { pid },
  });
}
