// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are the shell's
/** Bash itself is the judge: whenever it runs `git push`, a rule about that fits the command, or something in it cannot be seen. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { mustAsk } from "@matrx/shared/access-rules.ts";
import { bashSubjects } from "@matrx/shared/commands/bash-subjects.ts";
import { ANYTHING } from "@matrx/shared/commands/subject.ts";
import fc from "fast-check";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../helpers/folder.ts";
import { LONG } from "../../helpers/long-mode.ts";

const RUNS = LONG ? 20_000 : 160;
const TOGETHER = 4;

/** The programs that a command finds. Those that are real start others. */
const REAL = [
  "bash",
  "sh",
  "dash",
  "env",
  "nohup",
  "timeout",
  "nice",
  "setsid",
  "stdbuf",
  "xargs",
  "find",
  "cat",
];
/** Each word ends with a sign that no command has. */
const TRACED = '#!/bin/sh\n{ printf \'%s§\' "$@"; echo; } >> "$TRACE"\n';
const SUDO =
  '#!/bin/sh\nwhile :; do case "$1" in -u) shift 2;; -*) shift;; *) break;; esac; done\nexec "$@"\n';

const quoted = (word: string) =>
  fc.constantFrom(
    word,
    word,
    `'${word}'`,
    `"${word}"`,
    `\\${word}`,
    `${word.slice(0, 1)}''${word.slice(1)}`,
    `${word.slice(0, 1)}\\\n${word.slice(1)}`,
    `$'\\x${word.charCodeAt(0).toString(16)}${word.slice(1)}'`,
    `$'\\x{${word.charCodeAt(0).toString(16)}}${word.slice(1)}'`,
    `$"${word}"`,
  );
const git = fc.oneof(
  { weight: 4, arbitrary: quoted("git") },
  fc.constantFrom(
    "$G",
    '"$G"',
    "${G}",
    "./git",
    "$PWD/git",
    "gi$T",
    "g?t",
    "{git,}",
    "$(echo git)",
    "${G:-ls}",
  ),
);
const push = fc.oneof(
  { weight: 4, arbitrary: quoted("push") },
  fc.constantFrom(
    "$P",
    '"$P"',
    "pus?",
    "pu*",
    "{push,x}",
    "$(echo push)",
    "p${U}sh",
    "$NONE push",
    "~/../push",
  ),
);
const options = fc.constantFrom(
  "",
  "",
  "",
  "-C . ",
  "--no-pager ",
  "-c a=b ",
  "-C $NONE ",
  "$NONE ",
  '"$@" ',
);
const assigned = fc.constantFrom(
  "",
  "",
  "",
  "A=1 ",
  "A=$(true) ",
  "A+=x B= ",
  "A[0]=1 ",
  ">f ",
  "2>&1 ",
  "<f ",
);
const starters = fc.constantFrom(
  ...[
    "",
    "",
    "",
    "env ",
    "env -i PATH=$PATH TRACE=$TRACE ",
    "env A=1 -- ",
    "nohup ",
    "timeout 5 ",
    "timeout -s KILL 5 ",
  ],
  ...[
    "nice ",
    "nice -n 5 ",
    "setsid -w ",
    "stdbuf -o0 ",
    "sudo ",
    "sudo -u ann ",
    "command ",
    "command -p -- ",
  ],
  ...[
    "builtin command ",
    "exec ",
    "exec -a x ",
    "time ",
    "time -p ",
    "! ",
    "eval ",
    "xargs ",
    "xargs -n1 ",
    "sudo env nice ",
  ],
);
const simple = fc
  .tuple(assigned, starters, git, options, push)
  .map(([before, by, ...words]) => `${before}${by}${words[0]} ${words[1]}${words[2]}`);
const other = fc.constantFrom(
  "true",
  "git status",
  "cat <f",
  "G=git P=push",
  "cd .",
  "echo git push",
  "echo 'git push'",
  "xargs",
  "alias gp=x",
);

const wrapped = (text: string) =>
  fc.constantFrom(
    ...[
      text,
      text,
      `(${text})`,
      `{ ${text}; }`,
      `$(${text})`,
      `echo "$(${text})"`,
      `echo \`${text}\``,
      `cat <(${text})`,
    ],
    ...[`sh -c '${text.replaceAll("'", "'\\''")}'`, `bash -ec '${text.replaceAll("'", "'\\''")}'`],
    ...[
      `bash -c "${text.replace(/["\\`$]/g, "\\$&")}"`,
      `eval '${text.replaceAll("'", "'\\''")}'`,
      `eval "${text}"`,
    ],
    ...[`if ${text}; then :; fi`, `for i in push; do ${text}; done`, `while ${text}; do break; done`],
    ...[
      `case x in x) ${text};; esac`,
      `f() { ${text}; }; f`,
      `f() (${text}); f`,
      `git() { command git "$@"; }; ${text}`,
    ],
    ...[
      `cat <<E\n$(${text})\nE`,
      `cat <<'E'\n$(${text})\nE\n${text}`,
      `cat <<< "$(${text})"`,
      `bash <<'E'\n${text}\nE`,
    ],
    ...[
      `echo '${text}' | sh`,
      `echo '${text}' > s; . ./s`,
      `echo '${text}' > s; bash s`,
      `X='${text}'; $X`,
      `X='${text}'; eval "$X"`,
    ],
    ...[
      `trap '${text.replaceAll("'", "'\\''")}' EXIT`,
      `coproc { ${text}; } < f; wait`,
      `${text} &`,
      `: \${NONE:=$(${text})}`,
      `: $((a[$(${text})]))`,
    ],
    ...[
      `a='x[$(${text})]'; : $((a))`,
      `a='x[$(${text})]'; [[ a -eq 1 ]]`,
      `PS4='$(${text})'; set -x; :`,
      `x='$(${text})'; : \${x@P}`,
    ],
    ...[
      `find . -maxdepth 0 -exec ${text} \\;`,
      `echo push | xargs git`,
      `echo push | xargs -I{} git {}`,
      `# ${text}`,
      `cat <<'E'\n${text}\nE`,
    ],
    ...[
      `bash -co pipefail '${text.replaceAll("'", "'\\''")}'`,
      `bash -c -e '${text.replaceAll("'", "'\\''")}'`,
      `echo '${text}' | dash -sc true`,
      `env 'BASH_FUNC_x%%=() { ${text}; }' bash -c x`,
      `echo push | xargs -rI% git %`,
    ],
    ...[
      `env -vS'${text}'`,
      `env -S 'A.b=1 git' push`,
      `env -S '${text.replaceAll(" ", "\\_")}'`,
      `set -k; ${text}`,
      `shopt -s expand_aliases\nBASH_ALIASES[x]='${text}'\nx`,
      `set -o history -H\n${text.replace("push", "status")}\n^status^push`,
    ],
    ...[
      `env -S '${text}'`,
      `BASH_ENV=<(echo '${text}') bash -c :`,
      `shopt -s expand_aliases\nalias x='${text}'\nx`,
      `[[ x ]] && ${text}`,
    ],
    ...[
      `sh -c '[[ x && ${text.replaceAll("'", "'\\''")} ]]'`,
      `sh -c '((${text.replaceAll("'", "'\\''")}))'`,
      `sh -c 'x &>f ${text.replaceAll("'", "'\\''")}'`,
    ],
    ...[
      `printf -v 'a[$(${text})]' x`,
      `test -v 'a[$(${text})]'`,
      `mapfile -t -C '${text}' -c 1 <<< x`,
      `compgen -C '${text}' x`,
      `declare -a a='($(${text}))'`,
      `i='x[$(${text})]'; a[i]=1`,
      `i='a[$(${text})]'; : \${!i}`,
      `${text}\r`,
    ],
    ...[
      `bash -c -o pipefail '${text.replaceAll("'", "'\\''")}'`,
      `sh -co errexit '${text.replaceAll("'", "'\\''")}'`,
      `env -vS'${text.replaceAll("'", "'\\''")}'`,
      `jobs -x ${text}`,
      `BASH_CMDS[ls]=$PWD/git; ls push`,
      `shopt -s expand_aliases\nBASH_ALIASES[x]='${text}'\nx`,
      `env 'BASH_FUNC_ls%%=() { ${text.replaceAll("'", "'\\''")}; }' bash -c ls`,
    ],
    ...[
      `a='x[$(${text})]'; b[a]=1`,
      `a='x[$(${text})]'; b+=([a]=1)`,
      `a='x[$(${text})]'; : \${!a}`,
      `a='x[$(${text})]'; cat {b[a]}< f`,
      `RANDOM='x[$(${text})]'`,
      `read OPTIND <<< 'x[$(${text})]'`,
    ],
  );
const joined = fc
  .tuple(
    fc.oneof(other, simple),
    fc.constantFrom("; ", "\n", " && ", " || ", " | ", " & ", " |& ", "\t;\t", " \\\n; "),
    fc.oneof(simple, other),
  )
  .map((parts) => parts.join(""));
const line = fc
  .oneof({ weight: 3, arbitrary: simple }, joined)
  .chain(wrapped)
  .chain((text) => fc.oneof({ weight: 2, arbitrary: fc.constant(text) }, wrapped(text)));

/** Quotes, brackets and spaces where nobody would write them. */
const torn = fc
  .tuple(
    line,
    fc.nat(),
    fc.constantFrom(
      "'",
      '"',
      "\\",
      "(",
      ")",
      "{",
      "}",
      "$",
      "`",
      ";",
      "\n",
      "#",
      " ",
      "<",
      "&",
      "[",
      "]",
      "*",
      "=",
      "E\n",
      "\t",
    ),
    fc.boolean(),
  )
  .map(([text, place, sign, isInstead]) => {
    const at = place % (text.length + 1);
    return text.slice(0, at) + sign + text.slice(at + (isInstead ? 1 : 0));
  });
const command = fc.oneof({ weight: 2, arbitrary: line }, torn);

function judgeIn(folder: string) {
  const bin = path.join(folder, "bin");
  mkdirSync(bin);
  for (const [name, text] of Object.entries({ git: TRACED, sudo: SUDO })) {
    writeFileSync(path.join(bin, name), text);
    chmodSync(path.join(bin, name), 0o755);
  }
  for (const name of REAL)
    symlinkSync([`/bin/${name}`, `/usr/bin/${name}`].find(existsSync) ?? name, path.join(bin, name));
  let number = 0;
  /** Whether bash runs a push. What it does is done in a folder of its own, with nothing but these programs. */
  return async (text: string): Promise<boolean> => {
    const cwd = path.join(folder, `run-${number++}`);
    const trace = path.join(cwd, "trace.log");
    mkdirSync(cwd);
    writeFileSync(path.join(cwd, "f"), "push\n");
    writeFileSync(path.join(cwd, "push"), "");
    symlinkSync(path.join(bin, "git"), path.join(cwd, "git"));
    const env = { PATH: bin, HOME: cwd, TRACE: trace, G: "git", P: "push", T: "t", U: "u" };
    const shell = spawn("/bin/bash", ["-c", text], {
      cwd,
      env,
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    shell.stdin.on("error", () => undefined).end("push\n");
    shell.stdout.resume();
    shell.stderr.resume();
    await ended(shell);
    const ran = existsSync(trace) ? readFileSync(trace, "utf8").split("\n") : [];
    rmSync(cwd, { recursive: true, force: true });
    return ran.some((words) => /^(?:-C§[^§]*§|--no-pager§|-c§a=b§)?push§/.test(words));
  };
}

async function ended(shell: ChildProcess): Promise<void> {
  const limit = setTimeout(() => shell.pid && process.kill(-shell.pid, "SIGKILL"), 5000);
  await once(shell, "close");
  clearTimeout(limit);
}

it("a rule about pushes asks whenever bash runs one", async () => {
  const judge = judgeIn(temporaryFolder());
  const seen = { pushed: 0, unasked: 0, unsure: 0 };
  const isFound = async (text: string): Promise<boolean> => {
    const subjects = bashSubjects(text);
    const isAsked = mustAsk({ match: "git push*" }, { tool: "Bash", effect: "execute", subjects });
    const hasPushed = await judge(text);
    if (hasPushed) seen.pushed++;
    if (!isAsked) seen.unasked++;
    if (subjects.includes(ANYTHING)) seen.unsure++;
    return isAsked || !hasPushed;
  };
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: TOGETHER, maxLength: TOGETHER }), async (texts) => {
      const found = await Promise.all(texts.map(isFound));
      expect(texts.filter((_, at) => !found[at])).toEqual([]);
    }),
    { numRuns: RUNS / TOGETHER, endOnFailure: true },
  );
  // The judge saw both.
  expect(seen.pushed).toBeGreaterThan(RUNS / 10);
  expect(seen.unasked).toBeGreaterThan(0);
  expect(seen.unsure).toBeLessThan(RUNS * 0.85);
}, 3_600_000);
