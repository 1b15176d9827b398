/** An AI with file tools in a repository leaves nothing there that its owner's plain `git status` would run. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../helpers/folder.ts";
import { WAYS, Workbench } from "../tools/workbench.ts";
import { makeRepository, type OwnersRepository } from "./repository.ts";

/** How somebody who may write files is run by git. `tool` does one step, and may be refused. */
type Attack = (
  tool: (name: string, input: Record<string, unknown>) => Promise<void>,
  repository: OwnersRepository,
) => Promise<void>;

const HEAD = "ref: refs/heads/main\n";
const OF_GIT = { HEAD, "objects/info/x": "", "refs/heads/x": "" };

/** Writes the repository `folder`, with a trap, file by file. */
const plant = (folder: string, worktree: string): Attack => {
  return async (tool, { trapFor }) => {
    const files = { ...OF_GIT, config: trapFor(worktree) };
    for (const [name, content] of Object.entries(files))
      await tool("Write", { file_path: `${folder}/${name}`, content });
  };
};

const ATTACKS: readonly (readonly [name: string, attack: Attack])[] = [
  ["a repository in a folder", plant("deep", "deep")],
  [
    "a repository by one patch",
    async (tool, { trapFor }) => {
      const files = Object.entries({ ...OF_GIT, config: trapFor("deep") });
      const added = files.flatMap(([name, content]) => [
        `*** Add File: deep/${name}`,
        ...(content || "x\n")
          .trimEnd()
          .split("\n")
          .map((line) => `+${line}`),
      ]);
      await tool("ApplyPatch", { patch: ["*** Begin Patch", ...added, "*** End Patch"].join("\n") });
    },
  ],
  [
    "a repository whose HEAD was moved there",
    async (tool, repository) => {
      await plant("deep", "deep")(tool, repository);
      await tool("Write", { file_path: "head.txt", content: HEAD });
      await tool("Move", { source: "head.txt", destination: "deep/HEAD" });
      await tool("Move", { source: ".git/HEAD", destination: "deep/HEAD" });
    },
  ],
  [
    "a repository at the top, and the owner's broken",
    async (tool, repository) => {
      await plant(".", ".")(tool, repository);
      await tool("Move", { source: ".git/refs", destination: "elsewhere" });
      await tool("Delete", { path: ".git/HEAD" });
      await tool("Write", { file_path: ".git/HEAD", content: "broken" });
    },
  ],
  [
    "a .git file in a folder",
    async (tool, repository) => {
      await plant("evil", "deep")(tool, repository);
      await tool("Write", { file_path: "deep/.git", content: "gitdir: ../evil\n" });
      await tool("Write", { file_path: "gitfile", content: "gitdir: ../evil\n" });
      await tool("Move", { source: "gitfile", destination: "deep/.git" });
    },
  ],
  [
    "a .git folder in a folder",
    async (tool, repository) => {
      await plant("deep/.git", "deep")(tool, repository);
      await plant("made", "deep")(tool, repository);
      await tool("Move", { source: "made", destination: "deep/.git" });
    },
  ],
  [
    "the .git file of a submodule",
    async (tool, repository) => {
      await plant("evil", "sub")(tool, repository);
      await tool("Write", { file_path: "sub/.git", content: "gitdir: ../evil\n" });
      await tool("Edit", { file_path: "sub/.git", old_string: "../.git/modules/sub", new_string: "../evil" });
      await tool("Delete", { path: "sub/.git" });
      await tool("Move", { source: "sub", destination: "sub2" });
    },
  ],
  [
    "the .git file of a second working tree",
    async (tool, repository) => {
      await plant("evil", "tree")(tool, repository);
      await tool("Write", { file_path: "tree/.git", content: "gitdir: ../evil\n" });
    },
  ],
  [
    "another common folder",
    async (tool, repository) => {
      await plant("evil", ".")(tool, repository);
      await tool("Write", { file_path: ".git/commondir", content: "../evil\n" });
      await tool("Write", { file_path: ".git/worktrees/tree/commondir", content: "../../../evil\n" });
      await tool("Write", { file_path: ".git/modules/sub/commondir", content: "../../../evil\n" });
    },
  ],
  [
    "settings of a repository without .git",
    async (tool, { trapFor }) => {
      await tool("Write", { file_path: "bare/config", content: trapFor("bare") });
      await tool("Delete", { path: "bare/config" });
      await tool("Write", { file_path: "bare/commondir", content: "../evil\n" });
    },
  ],
];

async function openRepository(platform: (typeof WAYS)[number][1]) {
  const bench = await Workbench.open({ platform });
  const repository = makeRepository(bench.at("work"), temporaryFolder());
  execFileSync("git", ["init", "-q", "--bare", bench.at("work/bare")]);
  mkdirSync(bench.at("work/deep"));
  const grant: GrantScope = {
    ...{ id: makeGrantId(), owner: false, effects: ["read", "write", "execute"] },
    paths: [bench.at("work")],
  };
  const session = bench.newSession(grant);
  session.cwd = bench.at("work");
  const call = (name: string, input: Record<string, unknown>) => bench.call(name, input, { grant, session });
  return { bench, repository, call };
}

const PLACES = [".", "deep", "sub", "tree", "bare"];

describe.each(WAYS)("file tools, walked %s,", (_way, platform) => {
  it("plant nothing that the owner's git runs", async () => {
    const trapped: string[] = [];
    const { repository, call } = await openRepository(platform);
    for (const [name, attack] of ATTACKS) {
      // Each step may be refused: what counts is what git does then.
      await attack(async (tool, input) => void (await call(tool, input).catch(() => undefined)), repository);
      if (repository.isTrapped(...PLACES)) trapped.push(name);
    }
    expect(trapped).toEqual([]);
    expect(repository.git("status", "--porcelain", "--untracked-files=no")).toBe("");
    expect(repository.git("log", "--format=%s")).toBe("sub\none\n");
  });

  it("go on with work of all kinds in a repository", async () => {
    const { call, repository } = await openRepository(platform);
    await call("Write", { file_path: "file", content: "2\n" });
    await call("Edit", { file_path: "file", old_string: "2", new_string: "3" });
    for (const file_path of [
      "sub/more",
      "tree/more",
      ".gitignore",
      ".gitattributes",
      "Head/index.tsx",
      "objects/x",
    ])
      await call("Write", { file_path, content: "x\n" });
    await call("create_directory", { path: "refs" });
    await call("Move", { source: "tree/more", destination: "moved" });
    await call("Delete", { path: "sub/more" });
    expect(repository.git("diff", "--stat")).toContain("file");
  });
});

it("git runs what a folder's repository, a .git file or an entry of the index leads it to", async () => {
  const beside = temporaryFolder();
  const repository = makeRepository(`${beside}/work`, beside);
  const { folder, git, trapFor, isTrapped } = repository;
  git("init", "-q", "--bare", "deep");
  writeFileSync(`${folder}/deep/config`, trapFor("deep"));
  expect([isTrapped("."), isTrapped("deep")]).toEqual([false, true]);

  cpSync(`${folder}/deep`, `${beside}/evil`, { recursive: true });
  writeFileSync(`${beside}/evil/config`, trapFor("vendor"));
  mkdirSync(`${folder}/vendor`);
  writeFileSync(`${folder}/vendor/.git`, "gitdir: ../../evil\n");
  expect(isTrapped(".")).toBe(false);
  git("update-index", "--add", "--cacheinfo", `160000,${git("rev-parse", "HEAD").trim()},vendor`);
  expect(isTrapped(".")).toBe(true);
  git("update-index", "--force-remove", "vendor");

  for (const name of ["HEAD", "objects", "refs", "config"])
    cpSync(`${beside}/evil/${name}`, `${folder}/${name}`, { recursive: true });
  expect(isTrapped(".")).toBe(false);
  renameSync(`${folder}/.git/refs`, `${folder}/elsewhere`);
  expect(isTrapped(".")).toBe(true);
  git("config", "--global", "safe.bareRepository", "explicit");
  expect(isTrapped(".", "deep")).toBe(false);
});
