/** The program of a new terminal. */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { Platform } from "../platform/platform.ts";

/** The file of the wanted shell, by its path or its name; absent: the user's own. Throws MatrxError `INVALID_PARAMETERS`. */
export function findShell(wanted: string | undefined, env: NodeJS.ProcessEnv, platform: Platform): string {
  const { path } = platform;
  if (wanted === undefined) {
    const { SHELL: own } = env;
    return own && path.isAbsolute(own) && isProgram(own) ? own : platform.shell(env, existsSync).file;
  }
  const isName = path.basename(wanted) === wanted;
  const folders = (env.PATH ?? "").split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  const candidates = isName ? folders.map((folder) => path.join(folder, wanted)) : [wanted];
  const found = candidates.find((file) => path.isAbsolute(file) && isProgram(file));
  if (found === undefined) throw noShell(wanted);
  return found;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function noShell(wanted: string): MatrxError {
  return toolError("INVALID_PARAMETERS", `shell: ${wanted.slice(0, 200)} is no program of this machine`, {
    hint: "Give an absolute path, or the name of a program on the PATH; or leave it out",
    details: { field: "shell" },
  });
}
