/** Attempts of a command to leave the sandbox. docs/security.md has the same table. */
import type { Scene } from "./scene.ts";

export interface Escape {
  readonly name: string;
  readonly stoppedBy: string;
  /** Bash, run in the granted folder; what it writes must not contain the secret or `ESCAPED`. Several: one call after the other. */
  readonly commands: readonly string[];
  /** Whether it succeeded, where its output does not tell. */
  hasEscaped?(scene: Scene): boolean;
  /** Who could do it without a sandbox: so it is also run without one, to see that it is a real attempt. */
  readonly worksFor: "anyone" | "root" | "not tried";
}

const EMPTY_ROOT = "the sandbox starts from an empty root";
const MASK = "what is closed lies under a read-only mask";
const NO_RIGHTS = "no capabilities, and no further user namespaces";
const FILTER = "the system call filter";
const NETWORK = "a network in which only its session is";
const PROCESSES = "process and mount namespaces of its own";
const ANCHOR = "folders on the way to what is closed cannot be moved";
const READ_ONLY = "bound read-only";

const python = (script: string) => `python3 - <<'END'\n${script}\nEND`;
/** Calls the kernel directly; EPERM is the filter's answer. */
const systemCall = (x64: number, arm64: number, args: string) =>
  python(`
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
call = ${x64} if platform.machine() == "x86_64" else ${arm64}
result = libc.syscall(call, ${args})
if result >= 0 or ctypes.get_errno() != 1: print("ESCAPED", result, ctypes.get_errno())`);
const connect = (family: string, address: string) =>
  python(`
import socket
s = socket.socket(socket.${family}, socket.SOCK_STREAM)
s.settimeout(5)
s.connect(${address})
print(s.recv(100))`);

export function escapes({
  root,
  home,
  work,
  state,
  program,
  outside,
  helper,
  port,
  address,
  socket,
}: Scene): Escape[] {
  return [
    // Reading outside
    attempt("read a file outside by its path", EMPTY_ROOT, `cat ${outside}/secret`),
    attempt(
      "read a file outside by ..",
      EMPTY_ROOT,
      `cat $(printf '../%.0s' $(seq 20))${outside.slice(1)}/secret`,
    ),
    attempt("follow a link that lay in the folder", EMPTY_ROOT, "cat link"),
    attempt("follow a link of its own", EMPTY_ROOT, `ln -s ${outside} own; cat own/secret`),
    attempt(
      "enter a link that an earlier command made",
      EMPTY_ROOT,
      `ln -s ${outside} door`,
      "cd door; cat secret",
    ),
    attempt("make a hard link to a file outside", EMPTY_ROOT, `ln ${outside}/secret hard && cat hard`),
    attempt(
      "list the folders above its own",
      EMPTY_ROOT,
      `ls -R ${outside}/.. | grep -q secret && echo ESCAPED`,
    ),
    attempt(
      "read another user's home folder",
      EMPTY_ROOT,
      "ls -A /home/*/ /root && echo ESCAPED",
      "not tried",
    ),
    attempt("read the system's password hashes", EMPTY_ROOT, "cat /etc/shadow && echo ESCAPED", "root"),
    // Other processes
    attempt(
      "reach files by the root of another process",
      PROCESSES,
      `cat /proc/${helper}/root${outside}/secret`,
    ),
    attempt("reach files by its parent's root", PROCESSES, `cat /proc/$PPID/root${outside}/secret`),
    attempt("reach files by another process's directory", PROCESSES, "cat /proc/[0-9]*/cwd/secret"),
    attempt("read the environment of another process", PROCESSES, `cat /proc/${helper}/environ`),
    attempt("read the agent's own environment", "a clean environment", "env; cat /proc/$PPID/environ"),
    attempt(
      "reach files by an inherited descriptor",
      "none is inherited",
      `cat /proc/$$/fd/*/../../../key; ls -l /proc/self/fd | grep /jobs/ && echo ESCAPED`,
      "not tried",
    ),
    attempt(
      "trace another process",
      PROCESSES,
      python(`
import ctypes
print("ESCAPED" if ctypes.CDLL(None).ptrace(16, ${helper}, 0, 0) == 0 else "refused")`),
      "root",
    ),
    attempt(
      "hold up the process that tells its end",
      `${FILTER}, and a mask`,
      python(`
import ctypes
for request in (16, 0x4206):
    if ctypes.CDLL(None).ptrace(request, 1, 0, 0) == 0: print("ESCAPED")`),
      python(`
import glob
for name in ["/proc/1/mem", *glob.glob("/proc/1/task/*/mem")]:
    with open(name, "r+b", 0) as memory:
        with open("/proc/1/maps") as maps: memory.seek(int(maps.readline().split("-")[0], 16))
        if memory.read(1): print("ESCAPED")`),
      "not tried",
    ),
    {
      ...attempt("kill another process", PROCESSES, `kill -9 ${helper}; sleep 0.2`),
      hasEscaped: (scene) => !scene.isHelperAlive(),
    },
    {
      ...attempt(
        "leave a process behind",
        "the process namespace ends with the command",
        `setsid nohup sleep 9${port} > /dev/null 2>&1 & disown; until grep -q sleep /proc/$!/comm; do :; done`,
      ),
      hasEscaped: (scene) => scene.hasLeftProcess(),
    },
    // What is closed in the granted folder
    attempt("read Matrx's own files", MASK, `cat ${state}/key`),
    attempt("read them under another name", "other names of Matrx's files are masked, too", "cat other-name"),
    attempt(
      "move the folder that is closed",
      MASK,
      `mv ${state} ${root}/moved; cat ${root}/moved/key`,
      "not tried",
    ),
    intact("write into a closed folder", MASK, `echo x > ${state}/planted`),
    intact("delete a closed folder", MASK, `rm -rf ${state}/key`),
    attempt(
      "unmount the mask",
      NO_RIGHTS,
      `umount -l ${state}; umount -l .env; cat ${state}/key .env`,
      "not tried",
    ),
    attempt(
      "unmount the mask in a user namespace of its own",
      NO_RIGHTS,
      `unshare -r -m sh -c 'umount -l ${state}; cat ${state}/key'`,
      "not tried",
    ),
    attempt("get another user namespace", NO_RIGHTS, "unshare -U true && echo ESCAPED", "root"),
    attempt(
      "bind the root again in a user namespace",
      NO_RIGHTS,
      `unshare -r -m sh -c 'mkdir /tmp/r; mount --rbind / /tmp/r; umount -l /tmp/r${state}; cat /tmp/r${state}/key'`,
      "not tried",
    ),
    attempt(
      "enter another mount namespace",
      NO_RIGHTS,
      `nsenter -t 1 -m cat ${outside}/secret; nsenter -t ${helper} -m cat ${outside}/secret`,
      "root",
    ),
    attempt("read a file that a glob closes", MASK, "cat .env"),
    attempt("move the folder around it", ANCHOR, "mv deep moved; cat moved/er/closed/key"),
    attempt(
      "copy the folder around it",
      MASK,
      `cp -r ${work} /tmp/copy; cat /tmp/copy/.env /tmp/copy/deep/er/closed/key`,
    ),
    intact(
      "create a closed file that is missing",
      "folders in which it would be created are sealed",
      `echo evil > ${home}/.bashrc`,
    ),
    intact("write a git hook", MASK, "echo evil > repo/.git/hooks/pre-commit"),
    intact(
      "put another .git in the place of the old one",
      ANCHOR,
      "mv repo/.git repo/old; mkdir -p repo/.git/hooks; echo evil > repo/.git/hooks/pre-commit",
    ),
    intact(
      "set a program in git's configuration",
      READ_ONLY,
      "echo '[core] fsmonitor = evil' >> repo/.git/config; mv repo/new-config repo/.git/config",
    ),
    intact(
      "change Matrx's program",
      READ_ONLY,
      `echo evil >> ${program}/agent.js; mv ${program} ${root}/old-program`,
    ),
    intact("change it under another name", READ_ONLY, "echo evil >> linked.js"),
    // Writing outside
    intact("write a file outside", EMPTY_ROOT, `echo x > ${outside}/planted`),
    attempt(
      "write the system's files",
      READ_ONLY,
      "for f in /usr/planted /etc/ld.so.preload /etc/passwd /usr/bin/bash; do (echo >> $f) && echo ESCAPED; done",
      "not tried",
    ),
    intact("write beside the granted folder", EMPTY_ROOT, `echo x > ${root}.beside`),
    intact(
      "put a link in the place of the granted folder",
      READ_ONLY,
      `cd /; mv ${home} ${home}.old; ln -s / ${home}; mv ${root} ${root}.old; ln -s / ${root}`,
      "not tried",
    ),
    {
      ...attempt("leave a setuid program", FILTER, "cp /bin/sh setuid; chmod 4755 setuid"),
      hasEscaped: (scene) => scene.hasSetuid("setuid"),
    },
    {
      ...attempt(
        "create a file as setuid",
        FILTER,
        python("import os; os.umask(0); os.open('setuid', os.O_CREAT | os.O_WRONLY, 0o6755)"),
      ),
      hasEscaped: (scene) => scene.hasSetuid("setuid"),
    },
    {
      ...attempt(
        "make a file setuid by the newest call",
        FILTER,
        "cp /bin/sh setuid",
        systemCall(452, 452, `-100, b"setuid", 0o4755, 0`),
      ),
      hasEscaped: (scene) => scene.hasSetuid("setuid"),
    },
    attempt(
      "make a device",
      NO_RIGHTS,
      "mknod device c 1 1 && echo ESCAPED; mknod disk b 8 0 && echo ESCAPED",
      "root",
    ),
    attempt(
      "mount a file system",
      NO_RIGHTS,
      "mkdir m; mount -t tmpfs none m && echo ESCAPED; umount m; mount --bind /usr m && echo ESCAPED; umount m",
      "root",
    ),
    attempt(
      "change its root",
      NO_RIGHTS,
      "chroot /proc/1/root true && echo ESCAPED; chroot /usr/.. true && echo ESCAPED",
      "root",
    ),
    // Network and sockets
    attempt("reach a port of this machine", NETWORK, connect("AF_INET", `("127.0.0.1", ${port})`)),
    attempt(
      "reach it by the machine's own address",
      NETWORK,
      connect("AF_INET", `("${address}", ${port})`),
      "not tried",
    ),
    attempt("reach it by IPv6", NETWORK, connect("AF_INET6", `("::1", ${port})`), "not tried"),
    attempt(
      "send something out",
      NETWORK,
      python(
        "import socket; print('ESCAPED', socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53)))",
      ),
      "not tried",
    ),
    attempt(
      "reach a socket in the granted folder",
      `${FILTER}, and a mask`,
      connect("AF_UNIX", `"${socket}"`),
    ),
    attempt(
      "reach an abstract socket",
      `${NETWORK}; ${FILTER}`,
      connect("AF_UNIX", `"\\0matrx-escape-${port}"`),
    ),
    attempt(
      "open a socket to the virtual machine's host",
      FILTER,
      python("import socket; socket.socket(40, socket.SOCK_STREAM); print('ESCAPED')"),
      "not tried",
    ),
    attempt(
      "find sockets of D-Bus, docker or an agent of keys",
      EMPTY_ROOT,
      `ls -A /run /var/run 2>&1 | grep -E 'dbus|docker|user|sock' && echo ESCAPED; [ -n "$SSH_AUTH_SOCK$DBUS_SESSION_BUS_ADDRESS$XDG_RUNTIME_DIR" ] && echo ESCAPED`,
      "not tried",
    ),
    // The kernel
    attempt("read the kernel's log", FILTER, "dmesg | grep -q . && echo ESCAPED", "root"),
    attempt(
      "set what the kernel runs after a crash",
      READ_ONLY,
      `(cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern) && echo ESCAPED; (: > /proc/sysrq-trigger) && echo ESCAPED`,
      "not tried",
    ),
    attempt("use keyrings", FILTER, systemCall(250, 219, "0, -3, 0, 0, 0"), "not tried"),
    attempt(
      "use io_uring, which the filter cannot see into",
      FILTER,
      systemCall(425, 425, "1, 0"),
      "not tried",
    ),
    attempt("load a program into the kernel", FILTER, systemCall(321, 280, "0, 0, 0"), "not tried"),
    attempt("open files by their handles", FILTER, systemCall(304, 265, "-100, 0, 0"), "not tried"),
    attempt("type into a terminal", FILTER, systemCall(16, 29, `0, 0x5412, b"x"`), "not tried"),
    attempt(
      "call the kernel in another architecture's way",
      FILTER,
      systemCall(0x40000000 + 41, 5000, "1, 1, 0").replace("!= 1", "!= 38"),
      "not tried",
    ),
    attempt("raise its limits", "hard limits", "ulimit -Hc unlimited && echo ESCAPED", "not tried"),
  ];
}

function attempt(name: string, stoppedBy: string, ...commands: readonly string[]): Escape {
  const last = commands.at(-1);
  const isWho = last === "root" || last === "not tried";
  return {
    name,
    stoppedBy,
    commands: isWho ? commands.slice(0, -1) : commands,
    worksFor: isWho ? last : "anyone",
  };
}

/** One that shows in files that must stay as they are. */
function intact(name: string, stoppedBy: string, ...commands: readonly string[]): Escape {
  return { ...attempt(name, stoppedBy, ...commands), hasEscaped: (scene) => scene.hasChanged() };
}
