/** The tools of this device: one line each. */
import type { Tool } from "../core/tool.ts";
import type { Desktop } from "../desktop/desktop.ts";
import type { Files } from "../fs/access.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { Metrics } from "../metrics/metrics.ts";
import type { OwnPorts } from "../ports/own-ports.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { SearchEngines } from "../search/engines.ts";
import type { Terminals } from "../terminals/terminals.ts";
import { Digests } from "../transfers/digests.ts";
import type { Uploads } from "../transfers/uploads.ts";
import { applyPatchTool } from "./apply-patch.ts";
import { bashTool } from "./bash.ts";
import { bashOutputTool } from "./bash-output.ts";
import { clipboardReadTool } from "./clipboard-read.ts";
import { clipboardWriteTool } from "./clipboard-write.ts";
import { connectPortTool } from "./connect-port.ts";
import { createDirectoryTool } from "./create-directory.ts";
import { deleteTool } from "./delete.ts";
import { deleteDirectoryTool } from "./delete-directory.ts";
import { directoryTreeTool } from "./directory-tree.ts";
import { downloadTool } from "./download.ts";
import { editTool } from "./edit.ts";
import { fetchPortTool } from "./fetch-port.ts";
import { fileInfoTool } from "./file-info.ts";
import { globTool } from "./glob.ts";
import { grepTool } from "./grep.ts";
import { listDirectoryTool } from "./list-directory.ts";
import { listProcessesTool } from "./list-processes.ts";
import { moveTool } from "./move.ts";
import { networkConnectionsTool } from "./network-connections.ts";
import { openAppTool } from "./open-app.ts";
import { openPathTool } from "./open-path.ts";
import { openUrlTool } from "./open-url.ts";
import { readTool } from "./read.ts";
import { screenshotTool } from "./screenshot.ts";
import { searchFilesTool } from "./search-files.ts";
import { stopProcessTool } from "./stop-process.ts";
import { systemInfoTool } from "./system-info.ts";
import { systemLogTool } from "./system-log.ts";
import { systemMetricsTool } from "./system-metrics.ts";
import { taskStopTool } from "./task-stop.ts";
import { terminalAttachTool } from "./terminal-attach.ts";
import { terminalCloseTool } from "./terminal-close.ts";
import { terminalCreateTool } from "./terminal-create.ts";
import { terminalExecuteTool } from "./terminal-execute.ts";
import { terminalInputTool } from "./terminal-input.ts";
import { terminalListTool } from "./terminal-list.ts";
import { uploadTool } from "./upload.ts";
import { uploadAbortTool } from "./upload-abort.ts";
import { uploadAppendTool } from "./upload-append.ts";
import { uploadCommitTool } from "./upload-commit.ts";
import { uploadInfoTool } from "./upload-info.ts";
import { writeTool } from "./write.ts";

/** What tools need besides a call's input and context. */
export interface ToolDeps {
  readonly files: Files;
  readonly jobs: Jobs;
  readonly desktop: Desktop;
  readonly sandbox: Sandbox;
  readonly uploads: Uploads;
  readonly ownPorts: OwnPorts;
  readonly terminals: Terminals;
}

export function deviceTools({
  files,
  jobs,
  desktop,
  sandbox,
  uploads,
  ownPorts,
  terminals,
}: ToolDeps): readonly Tool[] {
  const engines = new SearchEngines();
  const digests = new Digests();
  const terminalParts = { terminals, sandbox, platform: files.platform };
  return [
    readTool(files),
    writeTool(files),
    editTool(files),
    applyPatchTool(files),
    listDirectoryTool(files),
    directoryTreeTool(files),
    globTool(files, engines),
    grepTool(files, engines),
    searchFilesTool(files),
    bashTool(jobs, sandbox),
    bashOutputTool(jobs),
    taskStopTool(jobs),
    systemInfoTool(files),
    createDirectoryTool(files),
    moveTool(files),
    deleteTool(files),
    deleteDirectoryTool(files),
    systemLogTool(files),
    screenshotTool(files, desktop),
    clipboardReadTool(files, desktop),
    clipboardWriteTool(files, desktop),
    openUrlTool(files, desktop),
    openPathTool(files, desktop),
    openAppTool(files, desktop),
    listProcessesTool(files.platform),
    stopProcessTool(files),
    systemMetricsTool(new Metrics(files.platform)),
    networkConnectionsTool(files.platform),
    fileInfoTool(files, digests),
    downloadTool(files, digests),
    uploadTool(files, uploads, digests),
    uploadAppendTool(files, uploads),
    uploadCommitTool(files, uploads, digests),
    uploadInfoTool(files, uploads),
    uploadAbortTool(uploads),
    connectPortTool(ownPorts),
    fetchPortTool(ownPorts),
    terminalCreateTool(terminalParts),
    terminalExecuteTool(terminalParts),
    terminalInputTool(terminals),
    terminalListTool(terminals),
    terminalCloseTool(terminals),
    terminalAttachTool(terminals),
  ];
}
