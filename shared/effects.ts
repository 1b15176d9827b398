/** What a tool may do to a device. Effects of built-in names are pinned: no manifest can loosen them. */
import * as z from "zod";
import { EFFECT_OF } from "./built-in-tools.ts";
import { isReadOnlyCommand } from "./read-only.ts";

export const EFFECTS = ["read", "write", "execute"] as const;
export type Effect = (typeof EFFECTS)[number];
export const effectSchema = z.enum(EFFECTS);

/** A tool whose name and effect are pinned. */
export type BuiltInTool = keyof typeof EFFECT_OF;

/** Tools that connect to a port of the device. */
export type PortTool = Extract<BuiltInTool, "ConnectPort" | "FetchPort">;

const PINNED: ReadonlyMap<string, Effect> = new Map(Object.entries(EFFECT_OF));

/** Names of an agent's built-in tools. */
export const BUILT_IN_TOOLS: readonly string[] = [...PINNED.keys()];

/** The effect of a tool: pinned for built-in names, else `execute`, the strictest, until the owner says otherwise. */
export function effectOf(tool: string): Effect {
  return PINNED.get(tool) ?? "execute";
}

/**
 * What a call of the tool itself does. Only who may execute may watch a terminal or run a read-only command, but both change
 * nothing: such a call can be made again, and its outcome is never unknown. `input` is asked for only where it matters. It is
 * the caller's own, before anything in it is mended: relay and agent must read it alike.
 */
export function effectOfCall(tool: string, input: () => Readonly<Record<string, unknown>>): Effect {
  const isViewer = tool === ("TerminalAttach" satisfies BuiltInTool) && input().write !== true;
  const isReader = tool === ("Bash" satisfies BuiltInTool) && isReadOnlyCommand(tool, input());
  return isViewer || isReader ? "read" : effectOf(tool);
}

const PORT_TOOLS: ReadonlySet<string> = new Set<PortTool>(["ConnectPort", "FetchPort"]);

export function isPortTool(tool: string): tool is PortTool {
  return PORT_TOOLS.has(tool);
}

/** The built-in tools of the device document, which a bare device is assumed to have. */
export const DEVICE_DOCUMENT_TOOLS = [
  "create_directory",
  "delete_directory",
  "open_app",
  "search_files",
] as const;

/** The tool that a name means: `local_*` names of AI tool definitions are aliases (guide, AI Agent Integration). */
export function toolNameOf(name: string): string {
  return ALIASES.get(name) ?? name;
}

/** The model name of a built-in tool, such as `local_bash` for Bash; undefined for other tools. */
export function modelNameOf(tool: string): string | undefined {
  return PINNED.has(tool) ? aliasOf(tool) : undefined;
}

/** The tools' names in the same style as an unknown name, to list the choices. */
export function namesLike(wrong: string, tools: Iterable<string>): string[] {
  const ofModels = isModelName(wrong);
  return [...tools].map((tool) => (ofModels && modelNameOf(tool)) || tool).sort();
}

/** Whether a name, known or not, is in the style of model names. */
export function isModelName(name: string): boolean {
  return name.startsWith(MODEL_PREFIX);
}

const MODEL_PREFIX = "local_";

function aliasOf(tool: string): string {
  const snake = tool.replace(/([a-z])([A-Z])/g, "$1_$2").toLowerCase();
  return `${MODEL_PREFIX}${snake}`;
}

const ALIASES: ReadonlyMap<string, string> = new Map([...PINNED.keys()].map((tool) => [aliasOf(tool), tool]));

/** The known name nearest to a wrong one, or undefined if none is near; `mistakes`: how many letters may differ. */
export function nearestName(
  name: string,
  known: Iterable<string>,
  mistakes = Math.floor(name.length / 3),
): string | undefined {
  const wanted = name.toLowerCase();
  let best: string | undefined;
  let bestDistance = mistakes + 1;
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Levenshtein distance in which two letters in the wrong order are one mistake; given up at `limit`, as names are short. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit || a.length > 128) return limit;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwapped ? (beforePrevious[j - 2] ?? 0) + 1 : substitution;
      current.push(Math.min(substitution, swap, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length] ?? limit;
}
