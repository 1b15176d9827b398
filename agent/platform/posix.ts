/** What Linux and macOS share: how a path may look, and how a command is run. */
import { randomBytes } from "node:crypto";
import { mkdir, rename, rmdir } from "node:fs/promises";
import path from "node:path";
import { bashSubjects, shSubjects } from "@matrx/shared/commands/bash-subjects.ts";
import { setOpenFiles } from "./open-files.ts";
import type { ConfinedRun, Shell, Wrapped } from "./platform.ts";

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
    subjects: name === "bash" ? bashSubjects : shSubjects,
    argumentsFor: (directory) => [
      ...["-c", runner(FREE), "matrx-job", directory],
      ...[file, "-c", innerScript(name), name, directory],
    ],
    confine: (directory, wrap) =>
      confined(directory, wrap([file, "-c", confinedScript(name), name]), cwdFd(name)),
    logsItself: true,
  };
}

/** Commands in a sandbox are started by programs from here alone: a folder of the PATH may be one that they can change. */
export const SYSTEM_PATH =
  "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin:/opt/homebrew/bin";

/** Descriptors of a confined command's shell: the command itself, and where it tells its last directory. */
const COMMAND_FD = 5;
/** High, so that a command that opens descriptors by number uses others; sh has none above 9. */
const cwdFd = (shell: string) => (shell === "bash" ? 201 : 8);

function confined(directory: string, { file, args, env, fds }: Wrapped, cwd: number): ConfinedRun {
  const files = fds.map(({ fd, content }) => ({ name: `fd-${fd}`, content }));
  const redirections = [`${COMMAND_FD}< "$dir/command"`, ...fds.map(({ fd }) => `${fd}< "$dir/fd-${fd}"`)];
  return {
    args: ["-c", runner(apart(redirections.join(" "), cwd)), "matrx-job", directory, file, ...args],
    env: { ...env, PATH: SYSTEM_PATH },
    files,
  };
}

/** Closes files that the program was begun with, and knows nothing of; sh has no words for descriptors above 9. */
export function closingAbove(highest: number): string {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
  const name = 'f="${f##*/}"';
  return `if [ -n "$BASH_VERSION" ]; then for f in /dev/fd/*; do ${name}; [ "$f" -gt ${highest} ] && eval "exec $f>&-"; done; fi`;
}

/** Runs "$@" with the job's own stdin and output. */
const FREE = '"$@" 3>&- 2>&1; echo "$?" > "$dir/rc"';

/**
 * The same for a command in a sandbox, which gets nothing of ours but pipes: whoever holds a descriptor of a file can open
 * it anew by `/proc`, to write as much as it likes. Of its last directory no more is kept than a path can have.
 */
function apart(redirections: string, cwd: number): string {
  const run = `"$@" ${redirections} ${cwd}>&1 >&3 3>&- 2>&1`;
  return [
    `{ { trap : HUP INT TERM; if [ -e "$dir/stdin" ]; then cat "$dir/stdin" | ${run}; else ${run}; fi; echo "$?" > "$dir/rc"; } |`,
    ` { trap "" HUP INT TERM; head -c ${PATH_MAX} > "$dir/cwd"; exec cat > /dev/null; }; } 3>&1`,
  ].join("");
}

/** The longest path, with what ends it, in bytes. */
export const PATH_MAX = 4096;

/**
 * $1 the job's directory; after it, the program that runs the command.
 *
 * The left side runs the command, and tells its end on descriptor 3, which the agent holds the other end of. The right
 * side carries output into the log: a pipe, because a command may open /dev/stderr anew, which empties a file and fails on a
 * socket. It ignores what ends the command, so that last words are written, and its own end says that the log is whole.
 * The file size limit (in blocks) is the last resort while no agent is there to cut the log.
 */
function runner(run: string): string {
  return [
    closingAbove(3),
    // A command can read the environment of bubblewrap, which is the first process of its sandbox.
    `dir=$1; shift; unset PWD OLDPWD; ${setOpenFiles()}`,
    "trap : HUP INT TERM",
    `{ trap : HUP INT TERM; ${run}; echo >&3; } 2> /dev/null |` +
      ` { trap "" HUP INT TERM XFSZ; exec 3>&-; ulimit -f 4194304; exec cat >> "$dir/log"; }`,
  ].join("\n");
}

/** One line, so that the shell counts the command's own lines from 1. The variable's name is new each time: nothing can be built on it. */
function innerScript(shell: string): string {
  const dir = newName();
  const read = shell === "bash" ? "<" : "cat";
  return `${dir}=$1; shift; ${onExit(`command pwd -P > "$${dir}/cwd"`)}; eval "$(${read} "$${dir}/command")"`;
}

/**
 * The same without a path: the job's directory does not exist in a sandbox. While the command runs, the descriptor for the
 * last directory is closed to all that it starts. If it exits on the way, the shell still has it under the number at which
 * it saves descriptors: the first free one from 10 on.
 */
function confinedScript(shell: string): string {
  const command = newName();
  const read = `${shell === "bash" ? "<" : "cat "}/dev/fd/${COMMAND_FD}`;
  const tell = `command pwd -P >&${cwdFd(shell)} || command pwd -P >&10`;
  return `${command}=$(${read}); exec ${COMMAND_FD}<&-; ${onExit(tell)}; { eval "$${command}"; } ${cwdFd(shell)}>&-`;
}

/** `set -x` must not show our own commands, and a function named `pwd` must not answer. */
function onExit(tell: string): string {
  return `trap '{ __rc=$?; set +x; ${tell}; } 2>/dev/null; exit $__rc' EXIT`;
}

function newName(): string {
  return `__matrx_${randomBytes(4).toString("hex")}`;
}
