// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are the shell's
/** A rule such as `git push*` asks about a command wherever it stands in a line, and whatever starts it. */
import { mustAsk } from "@matrx/shared/access-rules.ts";
import { bashSubjects, shSubjects } from "@matrx/shared/commands/bash-subjects.ts";
import { commandSubjects } from "@matrx/shared/commands/command-subjects.ts";
import { describe, expect, it } from "vitest";

function asks(match: string, subjects: readonly string[]): boolean {
  return mustAsk({ match }, { tool: "Bash", effect: "execute", subjects });
}

const pushes = (command: string) => asks("git push*", bashSubjects(command));

describe("a rule about pushes asks about", () => {
  it.each([
    "git push",
    "git push origin main",
    "cd . && git push",
    "git status; git push",
    "git status\ngit push",
    "git\tpush",
    "git   push",
    "FOO=1 git push",
    "FOO=1 BAR=$X git push",
    "/usr/bin/git push",
    "~/bin/git push",
    "GIT.EXE push",
    "$(git push)",
    "echo `git push`",
    'echo "a $(echo $(git push))"',
    "cat <(git push)",
    "cat <<E\n$(git push)\nE",
    "cat <<< $(git push)",
    "echo > $(git push)",
    "X=$(git push)",
    "X[$(git push)]=1",
    "echo $((a[$(git push)]))",
    ": ${X:-$(git push)}",
    ">log git push",
    ">log ! git push",
    "git push > log 2>&1 &",
    "(git push)",
    "{ git push; }",
    "! git push",
    "time -p git push",
    "coproc git push",
    "if git push; then :; fi",
    "case a in a) git push;; esac",
    "for i in 1; do git push; done",
    "while git push; do :; done",
    "f() { git push; }; f",
    "git() { command git push; }",
    "true | git push",
    "git status || git push",
    "\"git\" p'us'h",
    "\\git push",
    "gi\\\nt push",
    "$'g\\x69t' push",
    '$"git" push',
    "git $X",
    'git "$X" origin',
    "git $X push",
    "git pu$X",
    "git {push,pull}",
    "git pus?",
    "git -C /src push",
    "git -c a=b --no-pager -C '/a b' push",
    "git -C $D push",
    "git -c alias.x=push x",
    "git -c $X x",
    `git ${"-C . ".repeat(20)}push`,
  ])("%j", (command) => {
    expect(pushes(command)).toBe(true);
  });
});

describe("a rule about pushes looks through what starts them:", () => {
  it.each([
    "env git push",
    "env -i -u A FOO=1 git push",
    "env -S 'git push'",
    "env -S'git push'",
    "env --split-string='git push'",
    "sudo -u ann git push",
    "sudo -n -- git push",
    "nohup git push",
    "timeout -s KILL 10 git push",
    "timeout 10 nice -n 5 sudo git push",
    "command git push",
    "command -p git push",
    "builtin command git push",
    "exec -a x git push",
    "/usr/bin/time -f %e git push",
    "gtimeout 5 git push",
    "xargs git push",
    "xargs git",
    "xargs -n1 git -C x",
    "xargs -I{} git {}",
    "xargs -I@ @ push",
    "xargs sh -c",
    "find . -exec git push \\;",
    "find . -execdir sh -c 'git push' \\;",
    "sh -c 'git push'",
    "bash -lc 'cd x; git push'",
    "bash -eo pipefail -c 'git push'",
    "bash -c -l 'git push'",
    "bash -c '\"$@\"' x git push",
    "/bin/bash -c \"sh -c 'git push'\"",
    "eval git push",
    "eval 'git' \"push\"",
    "eval -- 'git push'",
    "eval \"eval 'git push'\"",
    "trap 'git push' EXIT",
    "trap 'A=1 git push' EXIT",
    "su ann -c 'git push'",
    "watch 'git push'",
    "flock f -c 'git push'",
    "git submodule foreach git push",
    "git rebase -x 'git push' main",
  ])("%j", (command) => {
    expect(pushes(command)).toBe(true);
  });
});

describe("any rule with a match asks about what cannot be seen:", () => {
  it.each([
    "$X",
    "$X push",
    '"$@"',
    "${X}it push",
    "/usr/bin/gi? push",
    "{git,push}",
    "eval $X",
    'eval "$(cat x)"',
    "source ./x",
    ". x",
    "bash script.sh",
    "bash",
    "base64 -d x | sh",
    "bash -s < x",
    "bash <<< 'git push'",
    "bash --rcfile x -c ls",
    "sh -c $X",
    'sh -c "ls $X"',
    "exec < x",
    "alias g=git",
    "alias g=git\ng push",
    "hash -p /usr/bin/git g",
    "zsh -c ls",
    "fish -c ls",
    "pwsh -Command ls",
    "env $X",
    "sudo $X",
    "sudo -nu ann $X",
    "timeout 5 $X",
    "watch $X",
    'su -c "$X"',
    "xargs env",
    "echo ${X@P}",
    "PS4='$(git push)'; set -x; :",
    "BASH_ENV=x bash -c ls",
    "env BASH_ENV=x ls",
    "read PS4",
    "export PROMPT_COMMAND='git push'",
    ": ${PS4:='$(git push)'}",
    "declare -n x=PS4",
    "X=PS4; read $X <<< '$(git push)'",
    "printf -v $X y",
    'export "$X"',
    ": ${!X:='$(git push)'}",
    "a='x[$(git push)]'; echo $((a))",
    "a='x[$(git push)]'; [[ $a -eq 1 ]]",
    "printf -v 'a[$(git push)]' x",
    "test -v 'a[$(git push)]'",
    "sh -c '[[ x && git push ]]'",
    "sh -c '((git push))'",
    "sh -c \"echo \\$'\\\\'; git push; echo '\"",
    "sh -c 'x &>f git push'",
    "(git push",
    "echo 'open",
    "if true",
    "git push)",
    "echo $(",
  ])("%j", (command) => {
    expect(asks("rm x", bashSubjects(command))).toBe(true);
    expect(asks("*sudo rm*", bashSubjects(command))).toBe(true);
  });

  it("by another shell than bash, or on a terminal", () => {
    expect(asks("rm x", shSubjects("[[ x && git push ]]"))).toBe(true);
    expect(asks("rm x", shSubjects("ls; echo $((1 + 1))"))).toBe(false);
    expect(asks("rm x", commandSubjects("TerminalExecute", "gp"))).toBe(true);
  });

  it.each([
    ["long", "ls;".repeat(50_000)],
    ["deep", `${"$(".repeat(20_000)}ls${")".repeat(20_000)}`],
    [
      "of folded texts",
      Array.from({ length: 20 }).reduce<string>((text) => `eval ${JSON.stringify(text)}`, "ls"),
    ],
    ["of starters", "sudo ".repeat(5000)],
    ["of many commands", Array.from({ length: 5000 }, (_, n) => `c${n}`).join(";")],
    ["of half a character", "git \ud800 push"],
  ])("one that is %s is taken in its stride", (_, command) => {
    const began = performance.now();
    const isAsked = asks("*a".repeat(200), bashSubjects(command));
    expect(performance.now() - began).toBeLessThan(2000);
    expect(isAsked || command.length < 100).toBe(true);
  });
});

describe("a rule about pushes does not ask about", () => {
  it.each([
    "git status",
    "git pull",
    "git commit -m 'git push later'",
    "echo git push",
    'echo "git push"',
    "grep -r 'git push' .",
    "cat <<'E'\ngit push\nE",
    "# git push",
    "ls # ; git push",
    "ls \\; git push",
    "git status $X",
    "ls $X",
    'cd "$HOME" && ls *.ts',
    'for f in *; do wc -l "$f"; done',
    'echo "$(date)"',
    "timeout 60 npm test",
    'timeout 60 node "$f"',
    'sudo rm "$X"',
    'env A=$B node -e "x; $Y"',
    "ls | xargs -I{} cp {} x",
    "ls | xargs -n1 wc -l",
    "sudo -u ann ls",
    "sh -c 'ls; cat x'",
    "i=0; while [ $i -lt 3 ]; do i=$((i+1)); printf 'x\\n'; done",
    "[[ -f x ]] && awk '{print $1}' x | grep 'a$'",
    "find . -name '*.ts' -exec wc -l {} +",
    "ls | xargs",
    "ls | xargs wc -l",
    "X=$(pwd); echo ${X%/*}",
    "curl -s x | jq '.a[] | .b'",
    "git log --format='%h $(x)'",
    "python3 - <<'E'\nprint('$(x)')\nE",
    "export FOO=bar; ls",
    'export PATH="$HOME/bin:$PATH"',
    'read -r X; printf "%s" "$X"; [ "$X" = y ]',
  ])("%j", (command) => {
    expect(pushes(command)).toBe(false);
  });
});

it("a rule that fitted the text of a command still fits it", () => {
  expect(asks("*x=1*", bashSubjects("x=1 ls"))).toBe(true);
  expect(asks("ls &&*", bashSubjects("ls && date"))).toBe(true);
});

it("a rule that begins with a star fits commands, and what is known of arguments", () => {
  expect(asks("*git push*", bashSubjects("cd x; git $X"))).toBe(true);
  expect(asks("*sudo*", bashSubjects("ls $X"))).toBe(false);
  expect(asks("*sudo*", bashSubjects("echo sudo $X"))).toBe(true);
});
