/** This program as installed: an npm package, or in a clone of the repository. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";

/** The folder of the package: above these sources, or above the bundle. */
export const PACKAGE_FOLDER = packageFolder(import.meta.dirname);

/** The clone that this program runs from, if any; it has the repository's other commands. */
export const CLONE_FOLDER = cloneOf(PACKAGE_FOLDER);

const ownPackage = z
  .object({ name: z.string(), version: z.string() })
  .parse(readJson(join(PACKAGE_FOLDER, "package.json")));

export const AGENT_VERSION = ownPackage.version;

/** How the package was named to npx: its name, a file or a URL. npx records it in the folder above its node_modules. */
export function namedToNpx(): string {
  const note = z.object({ _npx: z.object({ packages: z.tuple([z.string()], z.string()) }) });
  try {
    return note.parse(readJson(join(PACKAGE_FOLDER, "../../../package.json")))._npx.packages[0];
  } catch {
    return ownPackage.name;
  }
}

function packageFolder(within: string): string {
  const above = dirname(within);
  return above === within || existsSync(join(within, "package.json")) ? within : packageFolder(above);
}

/** The sources lie in `agent`, what is built of them in `dist/agent`. */
function cloneOf(agent: string): string | undefined {
  const above = dirname(agent);
  return [above, dirname(above)].find((folder) => existsSync(join(folder, "scripts/start.ts")));
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}
