import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { Argument, Command, Option } from "commander";
import { describe, expect, test } from "vitest";
import { COMPLETION_SCRIPTS, candidatesFor } from "../../../agent/cli/commands/completion.ts";
import { MATRX_BIN } from "../../../scripts/matrx-bin.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { needs } from "../../helpers/parts.ts";
import { runMatrx } from "./matrx.ts";

describe("what may stand next", () => {
  const program = new Command("demo");
  program
    .command("call")
    .alias("do")
    .argument("<device>")
    .argument("<tool>")
    .option("-q, --quiet")
    .option("--timeout <s>");
  program
    .command("explain")
    .argument("[device]")
    .argument("[tool]")
    .option("--device <device...>")
    .option("--other <word>");
  program
    .command("logs")
    .addOption(new Option("--level <level>").choices(["info", "warn"]))
    .addArgument(new Argument("<kind>").choices(["up", "serve"]));
  const asked: string[] = [];
  const names = {
    devices: async () => ["laptop", "desktop"],
    tools: async (device: string | undefined) => {
      asked.push(device ?? "the default");
      return ["Bash", "BashOutput", "Read"];
    },
  };

  test.each([
    [[], "", ["call", "explain", "logs", "help"]],
    [[], "c", ["call"]],
    [["call"], "l", ["laptop"]],
    [["call", "laptop"], "Bash", ["Bash", "BashOutput"]],
    [["do", "laptop"], "Bash", ["Bash", "BashOutput"]],
    [["call", "--quiet", "laptop"], "R", ["Read"]],
    [["call", "--timeout", "5", "laptop"], "R", ["Read"]],
    [["call", "--timeout"], "", []],
    [["call"], "", ["laptop", "desktop"]],
    [["explain"], "", ["laptop", "desktop", "Bash", "BashOutput", "Read"]],
    [["explain", "--device"], "la", ["laptop"]],
    [["explain", "--other"], "", []],
    [["call"], "--", ["--quiet", "--timeout", "--help"]],
    [["logs", "--level"], "w", ["warn"]],
    [["logs", "--level=warn"], "s", ["serve"]],
    [["call", "laptop", "Bash"], "", []],
    [["nothing", "like", "this"], "x", []],
  ])("after %j, beginning with %j: %j", async (words, current, wanted) => {
    expect(await candidatesFor(program, words, current, names)).toEqual(wanted);
  });

  test("tools are those of the device that stands there", () => {
    expect(new Set(asked)).toEqual(new Set(["laptop", "the default"]));
  });
});

test("completion explains itself, and knows its shells", async () => {
  const home = temporaryFolder();
  const help = await runMatrx(["completion", "--help"], { home });
  expect(help.stdout).toMatch(/Examples:\n {2}(npx )?matrx completion bash/);
  expect((await runMatrx(["completion", "tcsh"], { home })).code).toBe(64);
});

describe("in a real shell", () => {
  // In bash each question answers into COMPREPLY; zsh and fish print what they offer.
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
  const show = 'printf "%s\\n" "${COMPREPLY[@]}"';
  const bash = (words: string, at: number) => `COMP_WORDS=(${words}); COMP_CWORD=${at}; _matrx; ${show}`;
  const zsh = (words: string, at: number) => `words=(${words}); CURRENT=${at}; _matrx`;
  const shells = [
    ["bash", "/bin/bash", `${bash("matrx to", 1)}; ${bash("matrx token re", 2)}`],
    [
      "zsh",
      "/usr/bin/zsh",
      `compadd() { print -l -- $@ }; ${zsh("matrx to", 2)}; ${zsh("matrx token re", 3)}`,
    ],
    ["fish", "/usr/bin/fish", 'complete -C "matrx to"; complete -C "matrx token re"'],
  ] as const;

  /** Runs a shell with our completion loaded. */
  function ask(name: (typeof shells)[number][0], file: string, question: string): string[] {
    const home = temporaryFolder();
    const load = {
      bash: "source <(matrx completion bash)",
      zsh: "autoload -Uz compinit; compinit -u; source <(matrx completion zsh)",
      fish: "matrx completion fish | source",
    }[name];
    const none = { bash: "--norc", zsh: "-f", fish: "--no-config" }[name];
    const path = `${join(home, "bin")}:${dirname(process.execPath)}:${process.env.PATH}`;
    execFileSync("mkdir", ["-p", join(home, "bin")]);
    execFileSync("ln", ["-s", MATRX_BIN, join(home, "bin/matrx")]);
    const env = { ...process.env, HOME: home, MATRX_HOME: home, PATH: path };
    const output = execFileSync(file, [none, "-c", `${load}\n${question}`], {
      env,
      encoding: "utf8",
      cwd: home,
    });
    expect(existsSync(join(home, "evaluated"))).toBe(false);
    return output.split("\n").filter((line) => /^\w/.test(line));
  }

  for (const [name, file, question] of shells) {
    const needsShell = needs(existsSync(file), `completion in ${name} needs ${file}`);
    test(name, { timeout: 30_000, ...needsShell }, () => {
      expect(ask(name, file, question).sort()).toEqual(["revoke", "token", "tools"]);
    });
  }

  test("nothing that was typed is run", { timeout: 30_000 }, () => {
    const typed = 'COMP_WORDS=(matrx call "\\$(touch evaluated)" ""); COMP_CWORD=3; _matrx; echo done';
    expect(ask("bash", "/bin/bash", typed)).toEqual(["done"]);
  });

  test("a name from elsewhere is put there as one word, and runs nothing", { timeout: 30_000 }, () => {
    const named = "matrx() { echo 'my laptop'; echo '$(touch evaluated)'; echo '`touch evaluated`;x'; }";
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
    const question = 'COMP_WORDS=(matrx call ""); COMP_CWORD=2; _matrx; for c in "${COMPREPLY[@]}"; do';
    const asPut = `${named}; ${question} eval "set -- $c"; printf 'words:%s:%s\\n' $# "$1"; done`;
    expect(ask("bash", "/bin/bash", asPut)).toEqual([
      "words:1:my laptop",
      "words:1:$(touch evaluated)",
      "words:1:`touch evaluated`;x",
    ]);
  });

  test("of powershell there is the script alone", () => {
    expect(COMPLETION_SCRIPTS.powershell).toContain("Register-ArgumentCompleter -Native -CommandName matrx");
  });
});
