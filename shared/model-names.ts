/** The names that models use for a device's tools. */
import { modelNameOf } from "./effects.ts";

/** `model`: `local_bash`; `own`: Bash, where the surface itself says whose tool it is. */
export type ToolNaming = "model" | "own";

/** What model APIs accept as a name. */
const MODEL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * The name that models use for each tool of a device: `local_bash` for Bash, unless named by itself; for others their own
 * name if the APIs accept it. Names are unique, and the same tools always get the same names. Pass all tools of the device,
 * so that a name does not depend on who asks.
 */
export function modelNames(
  tools: Iterable<string>,
  naming: ToolNaming = "model",
): ReadonlyMap<string, string> {
  const own = [...new Set(tools)].sort();
  const taken = new Set(own.filter((name) => MODEL_NAME.test(name)));
  const names = new Map<string, string>();
  for (const name of own) {
    const wanted = (naming === "model" && modelNameOf(name)) || validName(name);
    const free = wanted === name || !taken.has(wanted) ? wanted : distinctName(name, wanted, taken);
    taken.add(free);
    names.set(name, free);
  }
  return names;
}

function validName(name: string): string {
  if (MODEL_NAME.test(name)) return name;
  return name.replace(/[^a-zA-Z0-9_-]+/g, "_").slice(0, 64) || "_";
}

function distinctName(name: string, wanted: string, taken: ReadonlySet<string>): string {
  for (let attempt = 0; ; attempt++) {
    const distinct = `${wanted.slice(0, 55)}_${hashOf(`${name}#${attempt}`)}`;
    if (!taken.has(distinct)) return distinct;
  }
}

/** FNV-1a, 32 bits, as eight hex digits: only to keep names apart, not for security. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, "0");
}
