import { existsSync } from "node:fs";
import path from "node:path";

/** Tells whether a desktop entry of this id is installed (XDG base directories). */
export function hasDesktopEntry(id: string, env: NodeJS.ProcessEnv): boolean {
  const own = env.XDG_DATA_HOME || path.join(env.HOME ?? "/", ".local", "share");
  const system = (env.XDG_DATA_DIRS || "/usr/local/share:/usr/share").split(":");
  return [own, ...system].some((folder) => existsSync(path.join(folder, "applications", `${id}.desktop`)));
}
