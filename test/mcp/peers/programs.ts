/** Ours, and two that many people use. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MATRX_BIN } from "../../../scripts/matrx-bin.ts";
import { strangersFile } from "../strangers.ts";
import type { PeerProgram } from "./peer.ts";

export const OURS: PeerProgram = {
  name: "matrx mcp",
  args: (folder) => [MATRX_BIN, "mcp", "--folder", folder],
  tools: {
    read: ({ path }) => ({ tool: "Read", input: { file_path: path } }),
    readLines: ({ path, from, count }) => ({
      tool: "Read",
      input: { file_path: path, offset: from, limit: count },
    }),
    readEnd: ({ path, count }) => ({ tool: "Read", input: { file_path: path, offset: -count } }),
    readImage: ({ path }) => ({ tool: "Read", input: { file_path: path } }),
    write: ({ path, content }) => ({ tool: "Write", input: { file_path: path, content } }),
    edit: ({ path, from, to }) => ({
      tool: "Edit",
      input: { file_path: path, old_string: from, new_string: to },
    }),
    list: ({ path }) => ({ tool: "ListDirectory", input: { path } }),
    find: ({ path, pattern }) => ({ tool: "Glob", input: { path, pattern } }),
    search: ({ path, text }) => ({ tool: "Grep", input: { path, pattern: text } }),
    move: ({ from, to }) => ({ tool: "Move", input: { source: from, destination: to } }),
    remove: ({ path }) => ({ tool: "Delete", input: { path } }),
    run: ({ command }) => ({ tool: "Bash", input: { command } }),
    start: ({ command }) => ({ tool: "Bash", input: { command, run_in_background: true } }),
    follow: ({ id }) => ({ tool: "BashOutput", input: { bash_id: id, wait_ms: 5000 } }),
    end: ({ id }) => ({ tool: "TaskStop", input: { task_id: id } }),
  },
  startedId: /\b(job_\w+)\b/,
};

export const FILESYSTEM: PeerProgram = {
  name: "server-filesystem",
  args: (folder) => [strangersFile("@modelcontextprotocol/server-filesystem/dist/index.js"), folder],
  tools: {
    read: ({ path }) => ({ tool: "read_text_file", input: { path } }),
    readEnd: ({ path, count }) => ({ tool: "read_text_file", input: { path, tail: count } }),
    readImage: ({ path }) => ({ tool: "read_media_file", input: { path } }),
    write: ({ path, content }) => ({ tool: "write_file", input: { path, content } }),
    edit: ({ path, from, to }) => ({
      tool: "edit_file",
      input: { path, edits: [{ oldText: from, newText: to }] },
    }),
    list: ({ path }) => ({ tool: "list_directory", input: { path } }),
    find: ({ path, pattern }) => ({ tool: "search_files", input: { path, pattern } }),
    move: ({ from, to }) => ({ tool: "move_file", input: { source: from, destination: to } }),
  },
};

/** It answers once a command waits or this time is over, in milliseconds. */
const RUNS_WITHIN = 10_000;

export const DESKTOP_COMMANDER: PeerProgram = {
  name: "desktop-commander",
  args: () => [strangersFile("@wonderwhy-er/desktop-commander/dist/index.js"), "--no-onboarding"],
  // It tells its makers about its use unless its settings say otherwise before it starts.
  prepare: (folder, home) => {
    const settings = join(home, ".claude-server-commander");
    mkdirSync(settings);
    const chosen = { telemetryEnabled: false, allowedDirectories: [folder] };
    writeFileSync(join(settings, "config.json"), JSON.stringify(chosen));
  },
  tools: {
    read: ({ path }) => ({ tool: "read_file", input: { path } }),
    readLines: ({ path, from, count }) => ({
      tool: "read_file",
      input: { path, offset: from - 1, length: count },
    }),
    readEnd: ({ path, count }) => ({ tool: "read_file", input: { path, offset: -count } }),
    readImage: ({ path }) => ({ tool: "read_file", input: { path } }),
    write: ({ path, content }) => ({ tool: "write_file", input: { path, content } }),
    edit: ({ path, from, to }) => ({
      tool: "edit_block",
      input: { file_path: path, old_string: from, new_string: to },
    }),
    list: ({ path }) => ({ tool: "list_directory", input: { path, depth: 1 } }),
    // Its patterns are those of names.
    find: ({ path, pattern }) => ({
      tool: "start_search",
      input: { path, pattern: pattern.replace("**/", ""), searchType: "files" },
    }),
    search: ({ path, text }) => ({
      tool: "start_search",
      input: { path, pattern: text, searchType: "content" },
    }),
    move: ({ from, to }) => ({ tool: "move_file", input: { source: from, destination: to } }),
    run: ({ command }) => ({ tool: "start_process", input: { command, timeout_ms: RUNS_WITHIN } }),
    start: ({ command }) => ({ tool: "start_process", input: { command, timeout_ms: 500 } }),
    follow: ({ id }) => ({
      tool: "read_process_output",
      input: { pid: Number(id), timeout_ms: 5000 },
    }),
    end: ({ id }) => ({ tool: "force_terminate", input: { pid: Number(id) } }),
  },
  startedId: /PID (\d+)/,
  goOn: (text) => {
    const session = /\b(search_\d\w*)/.exec(text)?.[1];
    return session !== undefined && text.includes("Status: RUNNING")
      ? { tool: "get_more_search_results", input: { sessionId: session } }
      : undefined;
  },
};

export const PEERS: readonly PeerProgram[] = [OURS, FILESYSTEM, DESKTOP_COMMANDER];
