/** Search tools with an engine of the test's choice, called as the dispatcher does. */
import { copyFile } from "node:fs/promises";
import path from "node:path";
import type { Tool, ToolResult } from "../../../agent/core/tool.ts";
import { SearchEngines } from "../../../agent/search/engines.ts";
import { usualPlaces } from "../../../agent/search/find-ripgrep.ts";
import { globTool } from "../../../agent/tools/glob.ts";
import { grepTool } from "../../../agent/tools/grep.ts";
import type { CallOptions, Workbench } from "../tools/workbench.ts";

const nowhere = { fromPackage: async () => undefined, ofSystem: () => undefined };

/** With ripgrep, and without. */
export const ENGINES = [
  ["ripgrep", new SearchEngines(usualPlaces)],
  ["javascript", new SearchEngines(nowhere)],
] as const;

/** A ripgrep that another user may run, too: the packages may lie in a folder that only this one enters. */
export async function ripgrepForAll(bench: Workbench): Promise<SearchEngines> {
  const copy = path.join(bench.home, "../rg");
  await copyFile((await usualPlaces.fromPackage()) ?? "", copy);
  return new SearchEngines({ ...nowhere, fromPackage: async () => copy });
}

export interface Searcher {
  grep(input: Record<string, unknown>, options?: CallOptions): Promise<ToolResult>;
  glob(input: Record<string, unknown>, options?: CallOptions): Promise<ToolResult>;
}

export function searcher(bench: Workbench, engines: SearchEngines, files = bench.files): Searcher {
  const call =
    (tool: Tool) =>
    (input: Record<string, unknown>, options: CallOptions = {}) =>
      bench.callTool(tool, input, options);
  return { grep: call(grepTool(files, engines)), glob: call(globTool(files, engines)) };
}

/** Lines of an answer without its notes. */
export function linesOf({ output }: ToolResult): string[] {
  const lines = output === "" ? [] : output.split("\n");
  return lines.filter((line) => !/^\[.*\]$/.test(line));
}
