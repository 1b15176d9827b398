/**
 * Checks the mounts of a sandbox from within, before its command starts. bubblewrap mounts by path, one after the other:
 * whoever may write in a granted folder could meanwhile put a link or another folder in a path's place, so that something
 * else is shown there, or a mask covers the wrong thing. The kernel's own list tells what came of it.
 */
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import { type Mount, mountLine, mountsBelow, originOf } from "./mount-table.ts";
import type { HiddenPath, SearchedFolder } from "./rules.ts";

/** What must be mounted, and what may be besides, as lines of `mountLine`; and which folders must be there. */
export interface Expectation {
  readonly wanted: readonly string[];
  readonly allowed: readonly string[];
  readonly searched: readonly SearchedFolder[];
}

/** Its place in the kernel's list: what is mounted after it lies in no folder that commands can change. */
export const FIRST_OF_SYSTEM = "/proc";
/** A descriptor of the check's own. */
const FOLDER_FD = 5;
/** The command's exit code if something else is mounted: it has not run. */
const REFUSED = 125;
const EXCHANGED = "This did not run: a folder was moved while its sandbox was made";

/** `bound`: paths that show themselves; `fresh`: new and empty folders; `host`: the mounts outside. */
export function expectationOf(
  {
    bound,
    masks,
    fresh,
    searched,
  }: Readonly<{
    bound: readonly string[];
    masks: readonly HiddenPath[];
    fresh: readonly string[];
    searched: readonly SearchedFolder[];
  }>,
  host: readonly Mount[],
): Expectation {
  const lineOf = (from: string, at: string) => {
    const origin = originOf(from, host);
    return mountLine(origin?.device ?? "*", origin?.root ?? from, at);
  };
  return {
    wanted: [
      ...fresh.map((at) => mountLine("*", "/", at)),
      ...bound.map((path) => lineOf(path, path)),
      ...masks.map(({ path, isFolder }) =>
        isFolder ? mountLine("*", "/", path) : lineOf("/dev/null", path),
      ),
    ],
    // With a folder comes what is mounted in it.
    allowed: bound
      .flatMap((folder) => mountsBelow(folder, host))
      .map(({ device, root, at }) => mountLine(device, root, at)),
    searched,
  };
}

/** The command, started by a shell that checks first. It reads what is expected from the descriptor `fd`. */
export function checked(command: readonly string[], fd: number): readonly string[] {
  return ["/bin/sh", "-c", script(fd), "matrx-mounts", ...command];
}

/** For that descriptor. */
export function expectationText({ wanted, allowed, searched }: Expectation): string {
  const folders = searched.map(({ path, inode }) => `${inode} ${path}`);
  return [...wanted, "", ...new Set(allowed), "", ...folders, "", ""].join("\n");
}

/**
 * Each wanted line is struck off once; the root itself is told first. Then each folder is opened: `ino` is the fourth line that
 * the kernel tells of a descriptor. POSIX sh, with nothing but its own commands.
 */
function script(fd: number): string {
  return `
nl='
'
wanted=$nl allowed=$nl
while IFS= read -r line && [ -n "$line" ]; do wanted=$wanted$line$nl; done <&${fd}
while IFS= read -r line && [ -n "$line" ]; do allowed=$allowed$line$nl; done <&${fd}
refuse() {
  echo "${EXCHANGED}. Run it again when no other command moves folders." >&2
  exit ${REFUSED}
}
{
  read -r _ || refuse
  while read -r _ _ device root at _; do
    [ "$at" = ${FIRST_OF_SYSTEM} ] && break
    for line in "$device $root $at" "* $root $at"; do
      case $wanted in *"$nl$line$nl"*)
        wanted=\${wanted%%"$nl$line$nl"*}$nl\${wanted#*"$nl$line$nl"}
        continue 2 ;;
      esac
    done
    case $allowed in *"$nl$device $root $at$nl"*) ;; *) refuse ;; esac
  done
} < /proc/self/mountinfo
[ "$wanted" = "$nl" ] || refuse
is_opened() {
  { read -r _; read -r _; read -r _; read -r _ inode; } < /proc/self/fdinfo/${FOLDER_FD}
  [ "$inode" = "$1" ]
}
while IFS= read -r line && [ -n "$line" ]; do
  is_opened "\${line%% *}" ${FOLDER_FD}< "\${line#* }" || refuse
done <&${fd}
exec ${fd}<&-
exec "$@"`;
}

/** What a caller may reach is moved about while its sandbox is made. */
export function exchanged(): MatrxError {
  return agentError("UNAVAILABLE", EXCHANGED, {
    hint: "Run it again when no other command moves folders with closed files in them",
  });
}
