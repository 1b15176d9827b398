/** The tools that there are now: those of this program, and those of mounted servers, which come and go. */
import type { Tool } from "./tool.ts";

export interface ToolSource {
  /** The same array until something changes. */
  current(): readonly Tool[];
  /** Calls the listener after each change, until the returned function is called. */
  onChange(listener: () => void): () => void;
}

/** Tools that never change. */
export function fixedTools(tools: readonly Tool[]): ToolSource {
  return { current: () => tools, onChange: () => () => undefined };
}
