/** Names of mounted tools: `server__tool`, as models and policies can write them, and no name twice. */
import { hash } from "node:crypto";

const NAME_CHARS = 64;
const HASH_CHARS = 8;

/**
 * The names of a server's tools, by the server's own names for them. A tool whose name had to be changed never takes the
 * name of one whose name fits.
 */
export function mountedNames(server: string, tools: readonly string[]): ReadonlyMap<string, string> {
  const own = [...new Set(tools)];
  const names = new Map<string, string>();
  const taken = new Set<string>();
  const changed: string[] = [];
  for (const tool of own) {
    const name = `${server}__${tool}`;
    if (!/^[A-Za-z0-9_-]+$/.test(tool) || name.length > NAME_CHARS) {
      changed.push(tool);
      continue;
    }
    names.set(tool, name);
    taken.add(name);
  }
  for (const tool of changed.sort()) {
    const name = changedName(server, tool, taken);
    names.set(tool, name);
    taken.add(name);
  }
  return names;
}

function changedName(server: string, tool: string, taken: ReadonlySet<string>): string {
  const plain = `${server}__${tool.replace(/[^A-Za-z0-9_-]+/g, "_")}`;
  if (plain.length <= NAME_CHARS && !taken.has(plain)) return plain;
  for (let attempt = 0; ; attempt++) {
    const mark = hash("sha256", `${tool}#${attempt}`).slice(0, HASH_CHARS);
    const name = `${plain.slice(0, NAME_CHARS - HASH_CHARS - 1)}_${mark}`;
    if (!taken.has(name)) return name;
  }
}
