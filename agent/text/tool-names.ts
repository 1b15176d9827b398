/**
 * Tool names in texts: those that the caller uses. A model that was given `local_read` is told about `local_grep`, never
 * about a name that it does not know. Texts get a tool's name only from `toolName`, when they are made: the contents of
 * files and the output of programs are never searched for names.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { BuiltInTool } from "@matrx/shared/effects.ts";

/** The caller's names, by the tools' own names. */
export type ToolNames = ReadonlyMap<string, string>;

const inUse = new AsyncLocalStorage<ToolNames>();

/** Runs a call with these names in its texts. */
export function withToolNames<T>(names: ToolNames, run: () => T): T {
  return inUse.run(names, run);
}

/** A tool's name as the current caller knows it. Not for constants, which are made before any call. */
export function toolName(tool: BuiltInTool): string {
  return nameInUse(tool);
}

/** The same for a tool that may not be built in. */
export function nameInUse(tool: string): string {
  return inUse.getStore()?.get(tool) ?? tool;
}
