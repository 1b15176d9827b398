/** What a program inherits besides its environment is that of the user's shell, whatever the agent needs for itself. */
import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { makeFolder, removeFolder } from "../../helpers/folder.ts";
import { WAYS } from "./ways.ts";

/** Told by the program itself, in a file of the name that it is given. */
const TELL = (folder: string) => `#!/bin/sh
{
  echo "umask $(umask)"
  grep -E '^Sig(Blk|Ign)|^Cpus_allowed_list|^NoNewPrivs' /proc/self/status
  cat /proc/$$/limits
  echo "priority $(cut -d' ' -f18,19 /proc/$$/stat) $(cat /proc/$$/oom_score_adj) $(ionice -p $$)"
  for file in /proc/$$/fd/*; do echo "descriptor \${file##*/}"; done
} > ${folder}/$1.part 2>&1
mv ${folder}/$1.part ${folder}/$1.state
`;

/** Of a user who made other choices than most; with nothing open that the tests were begun with. */
const SHELL = `
for file in /dev/fd/*; do file=\${file##*/}; [ "$file" -gt 2 ] && eval "exec $file>&-"; done
umask 027; ulimit -Sn 300; ulimit -Sc 0; ulimit -Ss 4096`;

const states = new Map<string, string>();

beforeAll(() => {
  const folder = makeFolder();
  try {
    const program = join(folder, "tell-state");
    writeFileSync(program, TELL(folder));
    chmodSync(program, 0o755);
    execFileSync("/bin/bash", ["-c", `${SHELL}; exec ${program} shell`]);
    const agent = join(import.meta.dirname, "agent-of-odd-state.ts");
    // Some signals are ignored where a service manager or nohup starts it, and a file is left open.
    const odd = `${SHELL}; trap '' HUP USR1 PIPE; exec 9< /etc/passwd`;
    execFileSync(
      "/bin/bash",
      ["-c", `${odd}; "$0" "$@"; exit $?`, process.execPath, agent, folder, program],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    for (const way of ["shell", ...WAYS]) states.set(way, readFileSync(join(folder, `${way}.state`), "utf8"));
  } finally {
    removeFolder(folder);
  }
}, 60_000);

test("the shell has the user's choices", () => {
  expect(states.get("shell")).toMatch(/umask 0027[\s\S]*Max open files +300 /);
});

test.each(WAYS)("a program that runs as %s has the state of one that the user's shell starts", (way) => {
  expect(states.get(way)).toBe(states.get("shell"));
});
