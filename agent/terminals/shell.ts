/** The program of a new terminal, and how it is started so that it marks its commands. */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import { randomBase32 } from "@matrx/shared/ids.ts";
import type { Platform } from "../platform/platform.ts";
import { readPrivateFile, writePrivateFile } from "../platform/private-file.ts";
import { SHELL_SCRIPTS } from "./shell-scripts.ts";

/** A shell as it is started: one that reads no script of ours sends no marks. */
export interface ShellStart {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What its marks carry, if it sends any. */
  readonly nonce?: string;
}

export interface ShellSurroundings {
  /** The folder of scripts as the shell sees it. */
  readonly scripts: string;
  readonly env: NodeJS.ProcessEnv;
  /** Whether it reads the user's profile, as after a login. */
  readonly login: boolean;
}

export function shellStart(file: string, { scripts, env, login }: ShellSurroundings): ShellStart {
  const name = file.replace(/^.*[/\\]/, "").replace(/\.exe$/i, "");
  const nonce = randomBase32(20);
  const marks = { MATRX_MARKS: nonce };
  const asLogin = login ? ["-l"] : [];
  // A login shell of bash reads no script of ours, which reads the profile instead.
  if (name === "bash") {
    const args = ["--init-file", `${scripts}/bash.sh`];
    return { args, env: { ...marks, ...(login && { MATRX_LOGIN: "1" }) }, nonce };
  }
  if (name === "zsh") {
    const { ZDOTDIR: own } = env;
    const folders = { ZDOTDIR: `${scripts}/zsh`, ...(own && { MATRX_ZDOTDIR: own }) };
    return { args: asLogin, env: { ...marks, ...folders }, nonce };
  }
  if (name === "fish") {
    const quoted = scripts.replace(/['\\]/g, "\\$&");
    return { args: [...asLogin, "-C", `source '${quoted}/fish.fish'`], env: marks, nonce };
  }
  if (name === "pwsh" || name === "powershell") {
    const script = `. '${join(scripts, "powershell.ps1").replaceAll("'", "''")}'`;
    return { args: ["-NoLogo", "-NoExit", "-Command", script], env: marks, nonce };
  }
  const isOfSystem = /^(?:sh|dash|ash|ksh|mksh)$/.test(name);
  return { args: isOfSystem ? asLogin : [], env: {} };
}

/** Writes the scripts into a folder, where shells that start at the same time may read them. Throws MatrxError. */
export function writeShellScripts(folder: string): void {
  for (const [name, text] of Object.entries(SHELL_SCRIPTS)) {
    const file = join(folder, name);
    if (readPrivateFile(file) !== text) writePrivateFile(file, text);
  }
}

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
