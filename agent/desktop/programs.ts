/** Where programs and desktop entries are. */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import path from "node:path";

/** A program of the PATH, or an absolute path itself; undefined: it is not there, or may not be run. */
export function findProgram(name: string, env: NodeJS.ProcessEnv): string | undefined {
  if (path.isAbsolute(name)) return isProgram(name) ? name : undefined;
  // A folder relative to wherever the agent happens to be is nobody's choice.
  const folders = (env.PATH ?? "").split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  return folders.map((folder) => path.join(folder, name)).find(isProgram);
}

/** Tells whether a desktop entry of this id is installed (XDG base directories). */
export function hasDesktopEntry(id: string, env: NodeJS.ProcessEnv): boolean {
  const own = env.XDG_DATA_HOME || path.join(env.HOME ?? "/", ".local", "share");
  const system = (env.XDG_DATA_DIRS || "/usr/local/share:/usr/share").split(":");
  return [own, ...system].some((folder) => existsSync(path.join(folder, "applications", `${id}.desktop`)));
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
