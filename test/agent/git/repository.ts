/** The owner's repository in a folder that an AI works in, and a trap: what git runs if it is led to settings of the AI's. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

export interface OwnersRepository {
  readonly folder: string;
  /** Runs git as its owner does, here or in a folder of it, and returns what it wrote. */
  git(...args: readonly string[]): string;
  /** Whether the owner's plain `git status`, in these folders of it, ran a program of somebody else's. */
  isTrapped(...folders: readonly string[]): boolean;
  /** Settings of a repository whose working tree is this folder of it, with which git runs a program. */
  trapFor(worktree: string): string;
}

/** With a commit, a second branch, a submodule in `sub` and a second working tree in `tree`. */
export function makeRepository(folder: string, beside: string): OwnersRepository {
  const env = { PATH: process.env.PATH, HOME: beside, GIT_CONFIG_NOSYSTEM: "1" };
  const mark = path.join(beside, "trapped");
  writeFileSync(
    path.join(beside, ".gitconfig"),
    "[user]\nname = ann\nemail = ann@example.org\n[init]\ndefaultBranch = main\n[protocol.file]\nallow = always\n",
  );
  const git = (...args: readonly string[]) =>
    execFileSync("git", args, { cwd: folder, env, stdio: "pipe" }).toString();
  const other = path.join(beside, "other");
  for (const one of [folder, other]) mkdirSync(one, { recursive: true });
  for (const one of [folder, other]) {
    git("-C", one, "init", "-q");
    writeFileSync(path.join(one, "file"), "1\n");
    git("-C", one, "add", ".");
    git("-C", one, "commit", "-qm", "one");
  }
  git("branch", "topic");
  git("submodule", "--quiet", "add", other, "sub");
  git("commit", "-qm", "sub");
  git("worktree", "add", "-q", "tree", "topic");
  return {
    folder,
    git,
    isTrapped(...folders) {
      for (const one of folders) {
        const cwd = path.join(folder, one);
        if (existsSync(cwd)) spawnSync("git", ["status"], { cwd, env, stdio: "ignore" });
      }
      const isTrapped = existsSync(mark);
      rmSync(mark, { force: true });
      return isTrapped;
    },
    trapFor: (worktree) =>
      `[core]\nrepositoryformatversion = 0\nbare = false\nworktree = ${path.join(folder, worktree)}\n` +
      `fsmonitor = "touch '${mark}'; false"\n`,
  };
}
