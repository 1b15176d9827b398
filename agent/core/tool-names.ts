/**
 * What tools are called in texts: by the names that the caller uses. A model that was given `local_read` is told of
 * `local_grep`, and never of a name that it does not have. Texts name a tool by `toolName` alone, as they are made: what
 * comes out of files and programs is never searched for names.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { BuiltInTool } from "@matrx/shared/effects.ts";

/** Names by own name. */
export type ToolNames = ReadonlyMap<string, string>;

const inUse = new AsyncLocalStorage<ToolNames>();

/** Runs a call whose texts use these names. */
export function withToolNames<T>(names: ToolNames, run: () => T): T {
  return inUse.run(names, run);
}

/** The name of a tool as the current call's caller knows it. Not for constants: those are made before any call. */
export function toolName(tool: BuiltInTool): string {
  return nameInUse(tool);
}

/** The same for a tool that may not be a built-in one. */
export function nameInUse(tool: string): string {
  return inUse.getStore()?.get(tool) ?? tool;
}
