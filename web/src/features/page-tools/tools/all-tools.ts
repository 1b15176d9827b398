/** The tools of a machine's pages, and which of them can work with a machine. */
import type { Tool } from "../../../data/tools.ts";
import type { PageTool } from "../tool.ts";
import { COMBINED_TOOLS } from "./combined-tools.ts";
import { FILE_TOOLS } from "./file-tools.ts";
import { TERMINAL_TOOLS } from "./terminal-tools.ts";

const ALL: readonly PageTool[] = [...TERMINAL_TOOLS, ...FILE_TOOLS, ...COMBINED_TOOLS];

/** Those whose tools the machine has, and can use now. */
export function toolsFor(machine: readonly Tool[]): readonly PageTool[] {
  const usable = new Set(machine.flatMap(({ name, unavailable }) => (unavailable === undefined ? name : [])));
  return ALL.filter(({ needs }) => needs.every((name) => usable.has(name)));
}
