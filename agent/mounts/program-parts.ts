/** Which program a mounted server is: hashes of the files that its settings name. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { basename, extname, isAbsolute, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import type { StdioSettings } from "../config/mount-settings.ts";
import { SYSTEM_PATH } from "../platform/posix.ts";
import { findProgram } from "../platform/run-program.ts";

export interface ProgramPart {
  readonly path: string;
  /** `unreadable` if this user may run the file, but not read it. */
  readonly sha256: string;
}

/** Run what others wrote; they themselves change with each update of the system, and say nothing of the server. */
const RUNTIMES =
  /^(?:node(?:js)?|bun|deno|tsx|python[\d.]*w?|pypy[\d.]*|ruby|perl|php|java|dotnet|(?:ba|da|z)?sh|pwsh|powershell|cmd|env)$/i;
const LAUNCHERS = /^(?:npx|npm|pnpm|pnpx|yarn|bunx|uv|uvx|pipx|docker|podman)$/i;
const CODE = /^\.(?:[cm]?[jt]s|py|pyz|rb|pl|php|sh|ps1|jar|dll)$/i;

/** `env` and `runIn`: as its process gets them. What cannot be found is left out: it cannot be started either. */
export async function programParts(
  { command, args = [], cwd, sandbox, env: own }: StdioSettings,
  env: NodeJS.ProcessEnv,
  runIn: string,
): Promise<ProgramPart[]> {
  const folder = cwd ?? runIn;
  const isPath = /[/\\]/.test(command);
  const found =
    isPath && !isAbsolute(command)
      ? resolve(folder, command)
      : (findProgram(command, sandbox ? { PATH: SYSTEM_PATH } : { ...env, ...own }) ?? command);
  const names = [command, found, await realpath(found).catch(() => found)].map((path) =>
    basename(path).replace(/\.(?:exe|cmd|bat)$/i, ""),
  );
  if (names.some((name) => LAUNCHERS.test(name))) return [];
  const files = names.some((name) => RUNTIMES.test(name))
    ? scriptsOf(args).map((path) => resolve(folder, path))
    : [found];
  const parts = await Promise.all([...new Set(files)].map(partOf));
  return parts.filter((part) => part !== undefined);
}

/** The first argument that is no option, and all that look like code. Others may be data, which changes. */
function scriptsOf(args: readonly string[]): string[] {
  const plain = args.filter((arg) => arg !== "" && !arg.startsWith("-") && !arg.includes("\0"));
  return plain.filter((arg, index) => index === 0 || CODE.test(extname(arg)));
}

async function partOf(file: string): Promise<ProgramPart | undefined> {
  const path = await realpath(file).catch(() => undefined);
  if (path === undefined || !(await stat(path).catch(() => undefined))?.isFile()) return undefined;
  const sha256 = createHash("sha256");
  try {
    await pipeline(createReadStream(path), sha256);
  } catch {
    return { path, sha256: "unreadable" };
  }
  return { path, sha256: sha256.digest("hex") };
}
