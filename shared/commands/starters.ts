/** Programs and builtins of bash that start what their words name, and those that run what nobody can see beforehand. */
import { ANYTHING } from "./subject.ts";

/** What follows their options is a command; words of theirs may be one as a text, too. */
const STARTERS: ReadonlySet<string> = new Set([
  ...["builtin", "command", "exec", "time", "coproc", "!"],
  ...["env", "nice", "nohup", "timeout", "stdbuf", "setsid", "chroot", "xargs", "runcon"],
  ...["sudo", "sudoedit", "doas", "su", "runuser", "setpriv", "pkexec", "run0", "gosu", "su-exec"],
  ...["ionice", "chrt", "taskset", "numactl", "prlimit", "cgexec", "systemd-run", "systemd-inhibit"],
  ...["unshare", "nsenter", "flock", "setarch", "linux64", "bwrap", "firejail", "fakeroot", "unbuffer"],
  ...["strace", "ltrace", "valgrind", "perf", "busybox", "toybox", "caffeinate", "arch", "winpty", "start"],
  ...["watch", "script", "parallel", "sem", "entr", "rlwrap", "trap", "dbus-run-session", "xvfb-run"],
  ...["noglob", "nocorrect", "repeat", "not", "and", "or"],
]);

/** They want an operand before the program. */
const WITH_OPERAND: ReadonlySet<string> = new Set([
  ...[
    "timeout",
    "chroot",
    "runcon",
    "chrt",
    "taskset",
    "flock",
    "setarch",
    "su",
    "runuser",
    "gosu",
    "su-exec",
  ],
  "repeat",
]);

/** Options of starters whose value is a text of commands. */
const TEXT_OPTIONS: Readonly<Record<string, RegExp>> = {
  env: /^-\w*S|^--s/,
  su: /^-\w*c|^--(?:session-)?c/,
  runuser: /^-\w*c|^--(?:session-)?c/,
  script: /^-\w*c|^--c/,
  flock: /^-\w*c|^--c/,
};

/** Each of their words may be a text of commands. */
const TEXT_STARTERS: ReadonlySet<string> = new Set(["watch", "parallel", "sem", "entr", "trap", "xvfb-run"]);

/** What follows these words of theirs is a command, or a text of them. */
const STARTING_WORDS: Readonly<Record<string, RegExp>> = {
  find: /^-(?:exec|ok)(?:dir)?$/,
  fd: /^(?:-[xX]|--exec|--exec-batch)$/,
  git: /^(?:foreach|run|-x|--exec)$/,
};

/** They read commands from a text after `-c`, else from a file or from stdin. */
const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "rbash", "dash", "ash"]);

const OPAQUE: ReadonlySet<string> = new Set([
  ...["source", ".", "alias", "enable", "hash", "bind", "complete", "compgen", "fc", "mapfile", "readarray"],
  ...["zsh", "ksh", "mksh", "yash", "osh", "ysh", "csh", "tcsh", "fish", "nu", "elvish", "xonsh"],
  ...["pwsh", "powershell", "cmd", "wsl"],
]);

/** They evaluate what some of their words name, such as an index. */
const EVALUATING: ReadonlySet<string> = new Set([
  ...["declare", "typeset", "local", "export", "readonly", "let", "read", "printf", "test", "["],
  ...["unset", "wait", "getopts"],
]);

/** Variables whose text bash runs. */
export const RUN_VARIABLE = /^(?:BASH_ENV|ENV|PROMPT_COMMAND|PS[0-4])(?:\[.*)?(?:\+?=|$)/s;

export type Kind = "starter" | "shell" | "eval" | "opaque" | "evaluating" | "plain";

/** What is known of a program by its name, without folder and ending, in lower case. */
export function kindOf(name: string): Kind {
  if (STARTERS.has(name)) return "starter";
  if (SHELLS.has(name)) return "shell";
  if (name === "eval") return "eval";
  if (OPAQUE.has(name)) return "opaque";
  return EVALUATING.has(name) ? "evaluating" : "plain";
}

/** A program's name as it is known here: GNU's have a `g` in front where the system has its own. */
export function knownName(program: string): string {
  const name = program.toLowerCase().replace(/\.(?:exe|com|cmd|bat)$/, "");
  return name.startsWith("g") && STARTERS.has(name.slice(1)) ? name.slice(1) : name;
}

/** A command that a starter may start. */
export interface Started {
  readonly words: readonly string[];
  readonly texts: readonly string[];
}

/** Where its options end is not known for each, so that each word may be the program until one that surely is. */
export function startedBy(name: string, args: readonly string[]): Started[] {
  const words = withInput(name, args);
  const started: Started[] = [];
  let operands = WITH_OPERAND.has(name) ? 1 : 0;
  let isSettled = false;
  for (const [at, arg] of args.entries()) {
    const before = args[at - 1] ?? "";
    const isOption = arg.startsWith("-");
    const isAssignment = /^\w+=/.test(arg);
    const mayStart = !isOption && !isAssignment && !(isSettled && words[at]?.includes(ANYTHING));
    started.push({ words: mayStart ? words.slice(at) : [], texts: textsIn(name, arg, before) });
    if (isOption || isAssignment || mayTakeValue(name, before)) continue;
    if (operands > 0) operands--;
    else isSettled = true;
  }
  return started;
}

/** The commands among the words of a program that does other things, too. */
export function startedWithin(name: string, args: readonly string[]): Started[] {
  const starting = STARTING_WORDS[name];
  if (!starting) return [];
  const words = withInput(name, args);
  return args.flatMap((arg, at) => {
    if (!starting.test(arg)) return [];
    const started = words.slice(at + 1);
    return [{ words: started, texts: started.slice(0, 1).filter(isText) }];
  });
}

/** Arguments that are read come last, or in the place of a sign. */
function withInput(name: string, args: readonly string[]): readonly string[] {
  const signs = args.flatMap((arg, at) => {
    if (/^-[iI]$/.test(args[at - 1] ?? "")) return [arg];
    return arg.match(/^(?:-[iI]|--replace=)(.+)$/)?.[1] ?? [];
  });
  const replaced = args.map((arg, at) => {
    if (/^-[iI]$/.test(args[at - 1] ?? "")) return arg;
    return [...signs, "{}"].some((sign) => arg.includes(sign)) ? ANYTHING : arg;
  });
  return /^(?:xargs|parallel|sem|entr)$/.test(name) ? [...replaced, ANYTHING] : replaced;
}

function mayTakeValue(name: string, before: string): boolean {
  if (!before.startsWith("-") || before === "--" || /^--[\w-]+=/.test(before)) return false;
  return !(name === "xargs" && /^-(?:[0rtxp]|[nPLs]\d+|I\W+)$/.test(before));
}

function textsIn(name: string, arg: string, before: string): string[] {
  if (TEXT_STARTERS.has(name)) return [arg].filter(isText);
  const option = TEXT_OPTIONS[name];
  if (option?.test(before)) return [arg].filter(isText);
  return option?.test(arg) ? [arg.slice(2), arg.replace(/^--[^=]*=/, "")].filter(isText) : [];
}

/** A single word is a command by itself. */
function isText(text: string): boolean {
  return /[\s;&|<>()$`\0]/.test(text);
}
