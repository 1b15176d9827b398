/** What Linux and macOS share: how a path may look, and how a command is run. */
import { randomBytes } from "node:crypto";
import { mkdir, rename, rmdir } from "node:fs/promises";
import path from "node:path";
import type { Shell } from "./platform.ts";

/** What fits into `sockaddr_un` of every system, with the final NUL, in bytes. */
const SOCKET_PATH_BYTES = 104;

export function posixControlEndpoint(folder: string, name: string): string | undefined {
  const socket = path.posix.join(folder, `${name}.sock`);
  return Buffer.byteLength(socket) < SOCKET_PATH_BYTES ? socket : undefined;
}

export function posixObjection(text: string): string | undefined {
  if (/^[a-z]:(?:[\\/]|$)/i.test(text)) return "it is a Windows path, and this device is not Windows";
  if (text.startsWith("\\\\")) return "it is a Windows network path, and this device is not Windows";
  return undefined;
}

/** An empty folder holds the place: a folder takes it over at once, and only while it is empty. */
export async function posixRenameFolder(source: string, destination: string): Promise<void> {
  await mkdir(destination, 0o700);
  try {
    await rename(source, destination);
  } catch (error) {
    await rmdir(destination).catch(() => undefined);
    throw error;
  }
}

const BASH = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash"];

/** Bash, else sh: the user's own shell may be one that reads another language, such as fish. */
export function posixShell(env: NodeJS.ProcessEnv, exists: (path: string) => boolean): Shell {
  const onPath = (env.PATH ?? "").split(":").filter((folder) => folder.startsWith("/"));
  const candidates = [...BASH, ...onPath.map((folder) => path.posix.join(folder, "bash"))];
  const file = candidates.find(exists) ?? "/bin/sh";
  const name = path.posix.basename(file);
  return {
    file,
    argumentsFor: (directory) => ["-c", RUNNER, "matrx-job", file, innerScript(name), directory, name],
    logsItself: true,
  };
}

/**
 * $1 shell, $2 inner script, $3 the job's directory, $4 name of the shell.
 *
 * The left side runs the command, and tells its end on descriptor 3, which the agent holds the other end of. The right
 * side carries output into the log: a pipe, because a command may open /dev/stderr anew, which empties a file and fails on a
 * socket. It ignores what ends the command, so that last words are written, and its own end says that the log is whole.
 * The file size limit (in blocks) is the last resort while no agent is there to cut the log.
 */
const RUNNER = [
  // Files that the agent itself was begun with, and knows nothing of; sh has no words for descriptors above 9.
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
  'if [ -n "$BASH_VERSION" ]; then for f in /dev/fd/*; do f="${f##*/}"; [ "$f" -gt 3 ] && eval "exec $f>&-"; done; fi',
  "trap : HUP INT TERM",
  '{ trap : HUP INT TERM; "$1" -c "$2" "$4" "$3" 3>&- 2>&1; echo "$?" > "$3/rc"; echo >&3; } 2> /dev/null |' +
    ` { trap "" HUP INT TERM XFSZ; exec 3>&-; ulimit -f 4194304; exec cat >> "$3/log"; }`,
].join("\n");

/** One line, so that the shell counts the command's own lines from 1. The variable's name is new each time: nothing can be built on it. */
function innerScript(shell: string): string {
  const dir = `__matrx_${randomBytes(4).toString("hex")}`;
  const read = shell === "bash" ? "<" : "cat";
  // `set -x` must not show our own commands, and a function named `pwd` must not answer.
  const onExit = `{ __rc=$?; set +x; command pwd -P > "$${dir}/cwd"; } 2>/dev/null; exit $__rc`;
  return `${dir}=$1; shift; trap '${onExit}' EXIT; eval "$(${read} "$${dir}/command")"`;
}
