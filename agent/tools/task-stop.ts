/** TaskStop: stops a job. */
import { TIMES } from "@matrx/shared/limits.ts";
import * as z from "zod";
import { defineTool, type ToolResult } from "../core/tool.ts";
import type { Job } from "../jobs/job.ts";
import type { Jobs } from "../jobs/jobs.ts";

const input = z.strictObject({
  task_id: z.string().min(1).describe("The bash_id"),
});

export function taskStopTool(jobs: Jobs) {
  return defineTool({
    name: "TaskStop",
    family: "shell",
    effect: "execute",
    confinable: true,
    description: "Stop a `Bash` command and all processes it started. Its output stays readable.",
    details: "Asks them to end, and kills them after three seconds.",
    input,
    model: { prompt: "End a background command", needs: "Bash" },
    timeoutMs: TIMES.killAfter + 10_000,
    async preview({ task_id }, { grant }) {
      const { id, record } = jobs.find(task_id, grant);
      const { command, cwd, started, pid, began } = record;
      return {
        summary: `Stop the command ${id}, started ${new Date(started).toISOString()} in ${cwd}: ${command}`,
        bound: { "the command to stop": `${id} ${pid} ${began}` },
      };
    },
    async handle({ task_id }, { grant }) {
      const job = jobs.find(task_id, grant);
      const wasRunning = job.isRunning;
      const processes = await job.processes();
      const left = wasRunning || processes.length > 0 ? await job.stop("stopped") : [];
      return resultOf(job, wasRunning, processes.length, left);
    },
  });
}

function resultOf(job: Job, wasRunning: boolean, processes: number, left: readonly number[]): ToolResult {
  const { status, exit } = job.record;
  return {
    output: textOf(job, wasRunning, processes, left),
    metadata: {
      task_id: job.id,
      status,
      exit_code: exit,
      was_running: wasRunning,
      processes_left: left.length,
    },
  };
}

function textOf(job: Job, wasRunning: boolean, processes: number, left: readonly number[]): string {
  const { command, exit, status } = job.record;
  if (left.length > 0) {
    return `${job.id} was asked to end, but the agent's user can't stop ${left.length} of its processes`;
  }
  if (wasRunning) return `Stopped ${job.id}: ${command}`;
  const ended = status === "completed" ? ` with exit code ${exit}` : "";
  if (processes > 0) return `${job.id} had already ended${ended}; the processes it left running were stopped`;
  return `${job.id} had already ended${ended}; there was nothing to stop`;
}
