/** Search tools with an engine of the test's choice, called as the dispatcher does. */
import { makeCallId } from "@matrx/shared/ids.ts";
import pino from "pino";
import { SearchEngines } from "../../../agent/search/engines.ts";
import { usualPlaces } from "../../../agent/search/find-ripgrep.ts";
import type { Tool, ToolResult } from "../../../agent/tool.ts";
import { globTool } from "../../../agent/tools/glob.ts";
import { grepTool } from "../../../agent/tools/grep.ts";
import type { CallOptions, Workbench } from "../tools/workbench.ts";

const nowhere = { fromPackage: async () => undefined, onPath: () => undefined };

/** With ripgrep, and without. */
export const ENGINES = [
  ["ripgrep", new SearchEngines(usualPlaces)],
  ["javascript", new SearchEngines(nowhere)],
] as const;

export interface Searcher {
  grep(input: Record<string, unknown>, options?: CallOptions): Promise<ToolResult>;
  glob(input: Record<string, unknown>, options?: CallOptions): Promise<ToolResult>;
}

export function searcher(bench: Workbench, engines: SearchEngines): Searcher {
  const call =
    (tool: Tool) =>
    (input: Record<string, unknown>, options: CallOptions = {}) =>
      tool.handle(tool.input.parse(input), {
        call: makeCallId(),
        session: options.session ?? bench.session,
        grant: options.grant ?? bench.owner,
        policy: options.policy ?? {},
        relayPolicy: options.relayPolicy,
        signal: options.signal ?? new AbortController().signal,
        output: () => undefined,
        room: async () => undefined,
        log: pino({ level: "silent" }),
      });
  return { grep: call(grepTool(bench.files, engines)), glob: call(globTool(bench.files, engines)) };
}

/** Lines of an answer without its notes, and without the folder that they all begin with. */
export function linesOf({ output }: ToolResult, folder: string): string[] {
  const lines = output === "" ? [] : output.split("\n");
  return lines.filter((line) => !line.startsWith("[")).map((line) => line.replace(`${folder}/`, ""));
}
