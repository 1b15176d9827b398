/** How a confined program is started on a terminal: what the sandbox reads from descriptors lies in the terminal's folder until then. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Wrapped } from "../platform/platform.ts";
import { closingAbove, posixShell, SYSTEM_PATH } from "../platform/posix.ts";

/** $1 the folder; after it, the program. */
function starter(fds: readonly number[]): string {
  const redirections = fds.map((fd) => `${fd}< "$dir/fd-${fd}"`).join(" ");
  // A command can read the environment of bubblewrap, which is the first process of its sandbox.
  return `${closingAbove(2)}\ndir=$1; shift; unset PWD OLDPWD; exec ${redirections}; rm -rf "$dir"; exec "$@"`;
}

export function confinedProgram(
  folder: string,
  { file, args, env, fds }: Wrapped,
  more: Readonly<Record<string, string>>,
) {
  mkdirSync(folder, { mode: 0o700 });
  for (const { fd, content } of fds) writeFileSync(join(folder, `fd-${fd}`), content, { mode: 0o600 });
  return {
    file: posixShell({ PATH: SYSTEM_PATH }, existsSync).file,
    args: ["-c", starter(fds.map(({ fd }) => fd)), "matrx-terminal", folder, file, ...args],
    // The sandbox has folders of its own.
    cwd: "/",
    env: { ...env, ...more, PATH: SYSTEM_PATH },
  };
}
