/** Ways to search: a tool's handler in this process, and `rg` as a program. Each tells how many results it had. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import pino from "pino";
import { Admission } from "../../agent/core/gate.ts";
import { parseInput } from "../../agent/core/input.ts";
import { Sessions } from "../../agent/core/sessions.ts";
import type { Tool } from "../../agent/core/tool.ts";
import { Files } from "../../agent/fs/access.ts";
import type { SearchEngines } from "../../agent/search/engines.ts";
import { LINE_FLAGS } from "../../agent/search/ripgrep.ts";
import { globTool } from "../../agent/tools/glob.ts";
import { grepTool } from "../../agent/tools/grep.ts";
import { searchFilesTool } from "../../agent/tools/search-files.ts";
import { makeCallId, makeGrantId, makeSessionId } from "../../shared/ids.ts";

export type Way = () => Promise<number>;

/** What a call costs besides the link: the paths are looked up, each result is checked and read, the answer is written. */
export function tools(root: string, engines: SearchEngines) {
  const files = new Files({ protectedPaths: () => ({ closed: [], program: [] }) });
  const grant = { id: makeGrantId(), owner: true, effects: ["read" as const] };
  const session = new Sessions({ workspace: root }).open(makeSessionId(), grant);
  const log = pino({ level: "silent" });
  const way =
    (tool: Tool, count: string) =>
    (input: Record<string, unknown>): Way =>
    async () => {
      const { signal } = new AbortController();
      const context = {
        session,
        grant,
        rights: new Admission({ grant }, {}, (paths, caller) => files.check(paths, caller)).rights,
        signal,
        output: () => undefined,
        progress: () => undefined,
        room: async () => undefined,
        opensStream: false,
        log,
      };
      const { metadata } = await tool.handle(parseInput(tool, input), { ...context, call: makeCallId() });
      return ((metadata?.[count] ?? []) as unknown[]).length;
    };
  return {
    grep: way(grepTool(files, engines), "matches"),
    glob: way(globTool(files, engines), "files"),
    searchFiles: way(searchFilesTool(files), "results"),
  };
}

/** The flags that the tool gives it, but for those of ignore files: there are none here. */
export const SAME_FLAGS = [...LINE_FLAGS, "--engine=auto"];

export function ripgrep(file: string, root: string, args: readonly string[], enough?: number): Way {
  return program(file, root, ["--no-config", "--color=never", ...args, "./"], enough);
}

/** Ends it as soon as so many lines came, and waits for its end. */
export function program(
  file: string,
  root: string,
  args: readonly string[],
  enough = Number.POSITIVE_INFINITY,
): Way {
  return async () => {
    const child = spawn(file, args, { cwd: root, stdio: ["ignore", "pipe", "ignore"] });
    const closed = once(child, "close");
    let lines = 0;
    for await (const piece of child.stdout as AsyncIterable<Buffer>) {
      for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) lines++;
      if (lines >= enough) break;
    }
    child.kill("SIGKILL");
    await closed;
    return Math.min(lines, enough);
  };
}
