/** An AI's commands work in a repository as anyone does, and leave what names programs there as it was. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../helpers/folder.ts";
import { NEEDS_SANDBOX } from "../sandbox/needs-sandbox.ts";
import { Workbench } from "../tools/workbench.ts";
import { makeRepository } from "./repository.ts";

async function openRepository() {
  const bench = await Workbench.open();
  const repository = makeRepository(bench.at("work"), temporaryFolder());
  execFileSync("git", ["init", "-q", "--bare", bench.at("work/bare")]);
  const grant: GrantScope = {
    ...{ id: makeGrantId(), owner: false, effects: ["read", "write", "execute"] },
    paths: [bench.at("work")],
  };
  const session = bench.newSession(grant);
  session.cwd = bench.at("work");
  const as = "export GIT_AUTHOR_NAME=ai GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=ai GIT_COMMITTER_EMAIL=a@b; ";
  const run = async (command: string) => {
    const { output, metadata } = await bench.call(
      "Bash",
      { command: `${as} ${command}` },
      { grant, session },
    );
    return { output, code: metadata?.exit_code };
  };
  return { bench, repository, run };
}

const WORK = [
  "git switch -qc feature && echo 2 > file && git add file && git commit -qm two",
  "git stash list && echo 3 >> file && git stash && git stash pop && git commit -qam three",
  "git checkout -q main && echo x > more && git add more && git commit -qm more",
  "git checkout -q feature && git rebase main",
  "GIT_SEQUENCE_EDITOR='sed -i 2s/pick/squash/' GIT_EDITOR=true git rebase -i main",
  "git switch -q main && git merge -q --no-edit feature && git tag v1 && git gc -q",
  "cd sub && echo 2 > file && git add . && git commit -qm 'in the submodule' && cd .. && git add sub && git commit -qm sub",
  "cd tree && echo 2 > file && git commit -qam 'in the tree' && cd ..",
  "git worktree add -q second && cd second && echo 5 > five && git add five && git commit -qm five && cd ..",
  "cd second && git commit -q --amend -m 'five again' && cd .. && git fsck && git status",
  "git init -q own && cd own && echo 1 > f && git add f && git commit -qm own && cd .. && rm -rf own",
  "git clone -q . clone && cd clone && git log -1 && cd ..",
];

/** What says where a repository is, or which programs it runs. */
const FIXED = [
  "sub/.git",
  "tree/.git",
  ".git/modules/sub/config",
  ".git/worktrees/tree/commondir",
  "bare/config",
  "bare/HEAD",
];

const LATER = [
  "git config user.name x",
  "git worktree remove --force tree",
  "git remote add x y",
  "rm -rf bare",
  "git submodule add ./bare more",
];

describe("commands of an AI in a repository", NEEDS_SANDBOX, () => {
  it("commit, branch, stash, rebase, merge, and use submodules and working trees", async () => {
    const { repository, run } = await openRepository();
    for (const command of WORK) {
      const { code, output } = await run(command);
      expect([command, code, output]).toEqual([command, 0, output]);
    }
    expect(repository.git("log", "--format=%s", "second", "--")).toMatch(/^five again\nsub\n/);
    expect(repository.git("log", "--format=%s", "topic", "--")).toBe("in the tree\none\n");
  });

  it("leave what leads git to other settings as it is", async () => {
    const { bench, repository, run } = await openRepository();
    const before = FIXED.map((file) => readFileSync(bench.at("work", file), "utf8"));
    const trap = Buffer.from(repository.trapFor("sub")).toString("base64");
    await run(`git init -q --bare evil && echo ${trap} | base64 -d > evil/config`);
    const attacks = FIXED.flatMap((file) => {
      const folder = file.slice(0, file.lastIndexOf("/"));
      return [
        `for f in ${file} ${folder}; do echo 'gitdir: ../evil' > $f; rm -rf $f; mv $f gone; mv evil $f; ln -sfn ../evil $f; done`,
        `cp evil/config ${file}; mkdir -p ${folder}; echo 'gitdir: ../evil' > ${file}`,
      ];
    });
    await run(`${attacks.join("\n")}\ntrue`);
    expect(FIXED.map((file) => readFileSync(bench.at("work", file), "utf8"))).toEqual(before);
    expect(repository.isTrapped(".", "sub", "tree", "bare")).toBe(false);
    await run("echo evil > bare/hooks/post-receive; rm -rf bare/hooks; mv bare/hooks gone; true");
    expect(readdirSync(bench.at("work/bare/hooks"))).not.toContain("post-receive");
  });

  it("can't change a repository's settings, nor remove it, in a later command", async () => {
    const { run } = await openRepository();
    const codes: [string, boolean][] = [];
    for (const command of LATER) codes.push([command, (await run(command)).code === 0]);
    expect(codes).toEqual(LATER.map((command) => [command, false]));
  });
});
