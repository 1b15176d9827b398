/** Patches that diff and git write, applied by ours and by git. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../helpers/folder.ts";
import { tries } from "../../helpers/long-mode.ts";
import { Workbench } from "../tools/workbench.ts";

type Tree = Readonly<Record<string, string>>;

/** Without the user's own settings. */
const env = {
  ...process.env,
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  TZ: "America/New_York",
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@example.org",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@example.org",
};

function fill(folder: string, files: Tree): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), content, "latin1");
  }
}

/** What lies there, with whether it may be executed. */
function contentOf(folder: string): Record<string, string> {
  const names = (readdirSync(folder, { recursive: true }) as string[]).filter(
    (name) => !name.startsWith(".git"),
  );
  const files = names.filter((name) => statSync(join(folder, name)).isFile()).sort();
  return Object.fromEntries(
    files.map((name) => {
      const file = join(folder, name);
      const mark = statSync(file).mode & 0o111 ? "*" : "";
      return [`${name}${mark}`, readFileSync(file, "latin1")];
    }),
  );
}

function run(cwd: string, program: string, ...args: string[]): string {
  const { stdout, stderr, status } = spawnSync(program, args, { cwd, env, encoding: "latin1" });
  // diff tells by 1 that there are differences.
  if (status !== 0 && !(status === 1 && args.some((arg) => /^-[ru]|--no-index/.test(arg))))
    throw new Error(stderr);
  return stdout;
}

/** What our tool makes of a folder, and what git does. */
async function bothApplied(before: Tree, patch: string) {
  const bench = await Workbench.open();
  fill(bench.home, before);
  const folder = temporaryFolder();
  fill(folder, before);
  execFileSync("git", ["init", "-q"], { cwd: folder, env });
  const judge = spawnSync("git", ["apply", "--whitespace=nowarn", "-"], {
    cwd: folder,
    env,
    input: Buffer.from(patch, "latin1"),
  });
  if (judge.status !== 0) throw new Error(String(judge.stderr));
  await bench.call("ApplyPatch", { patch: Buffer.from(patch, "latin1").toString("utf8") });
  return { ours: contentOf(bench.home), git: contentOf(folder) };
}

describe("a patch of two folders", () => {
  const before = {
    "stays.txt": "same\n",
    "changed.txt": "a\nb\nc\n",
    "sub/gone.txt": "1\n2\n",
    "w.bat": "x\r\ny\r\n",
  };
  const after = {
    "stays.txt": "same\n",
    "changed.txt": "a\nB\nc\n",
    "new/made.txt": "fresh\nlines\n",
    "empty to be.txt": "no more\n",
    "w.bat": "x\r\nz\r\n",
  };

  it("by diff -ruN makes and deletes files, too", async () => {
    const folder = temporaryFolder();
    fill(join(folder, "old"), before);
    fill(join(folder, "new"), after);
    const patch = run(folder, "diff", "-ruN", "old", "new");
    expect(patch, "the beginning of time, as New York has it").toContain("1969-12-31 19:00:00");
    const { ours, git } = await bothApplied(before, patch);
    expect(ours).toEqual(git);
    expect(ours).toEqual(after);
  });

  it("by git format-patch ends before the signature, and sets what may be executed", async () => {
    const folder = temporaryFolder();
    run(folder, "git", "init", "-q");
    fill(folder, { ...before, "old name.txt": "1\n2\n3\n4\n5\n6\n7\n8\n" });
    run(folder, "git", "add", "-A");
    run(folder, "git", "commit", "-qm", "before");
    run(folder, "git", "rm", "-q", "sub/gone.txt");
    run(folder, "git", "mv", "old name.txt", "näw\tname.txt");
    fill(folder, {
      ...after,
      "run.sh": "#!/bin/sh\n",
      "näw\tname.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
      "last.txt": "-- \n",
    });
    execFileSync("chmod", ["755", "run.sh"], { cwd: folder });
    run(folder, "git", "add", "-A");
    run(folder, "git", "commit", "-qm", "after\n\n- a list\n+ of words");
    const patch = run(folder, "git", "format-patch", "-1", "--stdout");
    expect(patch).toMatch(/new file mode 100755[\s\S]*\n-- \n\d/);
    const { ours, git } = await bothApplied({ ...before, "old name.txt": "1\n2\n3\n4\n5\n6\n7\n8\n" }, patch);
    expect(ours).toEqual(git);
    expect(Object.keys(ours)).toContain("run.sh*");
    expect(ours["last.txt"]).toBe("-- \n");
  });

  it("by Python's difflib, without dates, fills a file that is empty, and makes one that is not there", async () => {
    const patch = "--- a/f.txt\n+++ b/f.txt\n@@ -0,0 +1,2 @@\n+x\n+y\n";
    const empty = await bothApplied({ "f.txt": "" }, patch);
    expect(empty.ours).toEqual(empty.git);
    const none = await bothApplied({}, patch);
    expect(none.ours).toEqual(none.git);
    expect(none.ours).toEqual({ "f.txt": "x\ny\n" });
  });
});

const piece = fc.constantFrom(
  "a",
  "b",
  "a\r",
  "b\r",
  "",
  "\r",
  "x ",
  "x",
  "-- ",
  "-- x",
  "++ y",
  "@@ -1 +1 @@",
  "\\ x",
);
const text = fc.tuple(fc.array(piece, { maxLength: 14 }), fc.boolean()).map(([lines, ended]) =>
  lines
    .map((line) => `${line}\n`)
    .join("")
    .slice(0, ended ? undefined : -1),
);
const edited = fc
  .tuple(
    text,
    fc.array(fc.record({ at: fc.nat(14), remove: fc.nat(2), add: fc.array(piece, { maxLength: 2 }) }), {
      minLength: 1,
      maxLength: 3,
    }),
  )
  .map(([before, changes]) => {
    const lines = before.split("\n");
    for (const { at, remove, add } of changes) lines.splice(at, remove, ...add);
    return { before, after: lines.join("\n") };
  });

describe("any exact diff", () => {
  it("gives what git apply gives, to the last line end", async () => {
    const folder = temporaryFolder();
    await fc.assert(
      fc.asyncProperty(edited, async ({ before, after }) => {
        fc.pre(before !== after && before !== "" && after !== "");
        fill(folder, { "a/f": before, "b/f": after });
        const patch = run(folder, "git", "diff", "--no-index", "--no-color", "a/f", "b/f").replaceAll(
          /(?<= |^)([ab])\/\1\/f/gm,
          "$1/f",
        );
        const { ours, git } = await bothApplied({ f: before }, patch);
        expect(git).toEqual({ f: after });
        expect(ours).toEqual(git);
      }),
      { numRuns: tries(60) },
    );
  });
});
