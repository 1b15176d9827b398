/** The tools of this device: one line each. */
import type { Jobs } from "../jobs/jobs.ts";
import type { Files } from "../paths/files.ts";
import type { Tool } from "../tool.ts";
import { bashTool } from "./bash.ts";
import { bashOutputTool } from "./bash-output.ts";
import { createDirectoryTool } from "./create-directory.ts";
import { listDirectoryTool } from "./list-directory.ts";
import { readTool } from "./read.ts";
import { systemInfoTool } from "./system-info.ts";
import { taskStopTool } from "./task-stop.ts";
import { writeTool } from "./write.ts";

/** What tools work with, besides what a call brings. */
export interface Workshop {
  readonly files: Files;
  readonly jobs: Jobs;
}

export function deviceTools({ files, jobs }: Workshop): readonly Tool[] {
  return [
    readTool(files),
    writeTool(files),
    listDirectoryTool(files),
    bashTool(jobs),
    bashOutputTool(jobs),
    taskStopTool(jobs),
    systemInfoTool(files.platform),
    createDirectoryTool(files),
  ];
}
