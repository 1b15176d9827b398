import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";

/** A program of the PATH, or an absolute path itself; undefined: it is not there, or may not be run. */
export function findProgram(name: string, env: NodeJS.ProcessEnv): string | undefined {
  if (path.isAbsolute(name)) return isProgram(name) ? name : undefined;
  // A folder relative to wherever the agent happens to be is nobody's choice.
  const folders = (env.PATH ?? "").split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  return folders.map((folder) => path.join(folder, name)).find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
