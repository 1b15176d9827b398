/** Programs and builtins of bash that start what their words name, and those that run what nobody can see beforehand. */

/** What follows their options is a command; words of theirs may be one as a text, too. */
const STARTERS: ReadonlySet<string> = new Set([
  ...["builtin", "command", "exec", "time", "coproc", "jobs", "!"],
  ...["env", "nice", "nohup", "timeout", "stdbuf", "setsid", "chroot", "xargs", "runcon"],
  ...[
    "sudo",
    "sudoedit",
    "doas",
    "su",
    "sg",
    "runuser",
    "setpriv",
    "pkexec",
    "run0",
    "gosu",
    "su-exec",
    "capsh",
  ],
  ...["ionice", "chrt", "taskset", "numactl", "prlimit", "choom", "uclampset", "cpulimit", "cgexec"],
  ...["systemd-run", "systemd-inhibit", "systemd-cat", "start-stop-daemon", "daemonize", "tini", "dumb-init"],
  ...[
    "unshare",
    "nsenter",
    "flock",
    "setarch",
    "bwrap",
    "firejail",
    "proot",
    "fakeroot",
    "unbuffer",
    "aa-exec",
  ],
  ...["linux32", "linux64", "uname26", "i386", "i486", "i586", "i686", "x86_64"],
  ...["strace", "ltrace", "valgrind", "perf", "busybox", "toybox", "caffeinate", "arch", "winpty", "start"],
  ...[
    "watch",
    "script",
    "parallel",
    "sem",
    "entr",
    "rlwrap",
    "trap",
    "dbus-run-session",
    "dbus-launch",
    "xvfb-run",
  ],
  ...["ssh-agent", "logsave", "chronic", "ifne", "run-one", "eatmydata", "nocache", "faketime", "torsocks"],
  ...[
    "proxychains",
    "proxychains4",
    "ld.so",
    "ld-linux.so.2",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
  ],
  ...["npx", "bunx", "cross-env", "dotenv", "hyperfine", "watchexec", "concurrently"],
  ...["noglob", "nocorrect", "repeat", "not", "and", "or"],
]);

/** They want an operand before the program. */
export const WITH_OPERAND: ReadonlySet<string> = new Set([
  ...["timeout", "chroot", "runcon", "chrt", "taskset", "flock", "setarch", "su", "sg", "runuser", "gosu"],
  ...["su-exec", "script", "logsave", "faketime", "repeat"],
]);

/** Without a command they start a shell, or take each line for one: always, or by such an option. What they read is run. */
export const STARTING_SHELLS: Readonly<Record<string, RegExp>> = {
  sudo: /^-\w*[si]|^--(?:shell|login)/,
  doas: /^-\w*s/,
  "systemd-run": /^-\w*S|^--shell/,
  ...Object.fromEntries(
    [
      ...["su", "sg", "runuser", "pkexec", "run0", "chroot", "capsh", "script", "parallel", "sem"],
      ...[
        "unshare",
        "nsenter",
        "setarch",
        "linux32",
        "linux64",
        "uname26",
        "i386",
        "i486",
        "i586",
        "i686",
        "x86_64",
      ],
      ...["firejail", "proot", "fakeroot"],
    ].map((name) => [name, /^/]),
  ),
};

/** Options of starters whose value is a text of commands. */
export const TEXT_OPTIONS: Readonly<Record<string, RegExp>> = {
  env: /^(?:-\w*?S|--s[^=]*=?)/,
  ...Object.fromEntries(
    ["su", "sg", "runuser", "capsh", "script", "flock", "npx"].map((name) => [
      name,
      /^(?:-\w*?c|--(?:session-)?c[^=]*=?)/,
    ]),
  ),
};

/** Each of their words may be a text of commands. */
export const TEXT_STARTERS: ReadonlySet<string> = new Set([
  ...["watch", "parallel", "sem", "entr", "trap", "xvfb-run", "sg", "hyperfine", "watchexec", "concurrently"],
]);

const RUNNER = /^(?:run|exec|x|dlx|-c|--command|--call)$/;
/** What follows these words of theirs is a command, or a text of them. */
export const STARTING_WORDS: Readonly<Record<string, RegExp>> = {
  find: /^-(?:exec|ok)(?:dir)?$/,
  fd: /^(?:-[xX]|--exec|--exec-batch)$/,
  fdfind: /^(?:-[xX]|--exec|--exec-batch)$/,
  git: /^(?:foreach|run|-\w*x|--exec|--extcmd|--(?:\w+-)?filter)$/,
  ...Object.fromEntries(
    [
      ...[
        "npm",
        "pnpm",
        "yarn",
        "bun",
        "uv",
        "poetry",
        "pipenv",
        "hatch",
        "pixi",
        "rye",
        "conda",
        "mamba",
        "bundle",
      ],
      ...["direnv", "mise", "asdf", "rbenv", "pyenv", "nodenv", "rustup", "volta", "nix", "nix-shell"],
      ...["op", "doppler", "aws-vault", "ip"],
    ].map((name) => [name, RUNNER]),
  ),
};

/** They read commands from a text after `-c`, else from a file or from stdin. */
const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "rbash", "dash", "ash"]);

const OPAQUE: ReadonlySet<string> = new Set([
  ...["source", ".", "alias", "enable", "hash", "bind", "complete", "compgen", "fc", "mapfile", "readarray"],
  ...["zsh", "ksh", "mksh", "yash", "osh", "ysh", "csh", "tcsh", "fish", "nu", "elvish", "xonsh"],
  ...["pwsh", "powershell", "cmd", "wsl", "tmux", "screen", "at", "batch", "crontab"],
]);

/** They evaluate what some of their words name, such as an index. */
const EVALUATING: ReadonlySet<string> = new Set([
  ...["declare", "typeset", "local", "export", "readonly", "let", "read", "printf", "test", "["],
  ...["unset", "wait", "getopts"],
]);

/** Variables whose text bash or git runs, and those that say how bash reads what follows. */
export const RUN_VARIABLE =
  /^(?:BASH_ENV|ENV|PROMPT_COMMAND|PS[0-4]|BASH_ALIASES|BASH_CMDS|BASH_FUNC_[^=]*|SHELLOPTS|GIT_CONFIG_(?:KEY_\d+|PARAMETERS))(?:\[.*)?(?:\+?=|$)/s;

/** Variables that bash takes for numbers: what is assigned to them is evaluated. */
export const EVALUATED_VARIABLE = /^(?:BASHPID|HISTCMD|LINENO|OPTIND|SECONDS|S?RANDOM)(?:\[.*)?(?:\+?=|$)/s;

export type Kind = "starter" | "shell" | "eval" | "opaque" | "evaluating" | "setting" | "plain";

/** What is known of a program by its name, without folder and ending, in lower case. */
export function kindOf(name: string): Kind {
  if (STARTERS.has(name)) return "starter";
  if (SHELLS.has(name)) return "shell";
  if (name === "eval") return "eval";
  if (name === "set" || name === "shopt") return "setting";
  if (OPAQUE.has(name)) return "opaque";
  return EVALUATING.has(name) ? "evaluating" : "plain";
}

/** A program's name as it is known here: GNU's have a `g` in front where the system has its own. */
export function knownName(program: string): string {
  const name = program.toLowerCase().replace(/\.(?:exe|com|cmd|bat)$/, "");
  return name.startsWith("g") && STARTERS.has(name.slice(1)) ? name.slice(1) : name;
}
