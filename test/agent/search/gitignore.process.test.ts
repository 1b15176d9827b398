import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { gitIgnoreOf, ignoredBy } from "../../../agent/search/ignore-rules.ts";
import { Workbench } from "../tools/workbench.ts";

const sign = fc.constantFrom("a", "b", "*", "?", "/", "**/", "/**", "!", "\\", " ", "[ab]", "[!a]", "#", ".");
const line = fc
  .array(sign, { minLength: 1, maxLength: 5 })
  .map((signs) => signs.join(""))
  // What two stars beside other signs mean, git leaves open.
  .filter((written) => !/[^/!]\*\*|\*\*[^/]/.test(written));
const name = fc.constantFrom("a", "b", "ab", ".a", "!a", "#a", "a ", "ba");

describe("the lines of a .gitignore", () => {
  it("leave out what git leaves out", async () => {
    const bench = await Workbench.open();
    let number = 0;
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 3 }), name, name, (lines, folder, file) => {
        const root = bench.at(`repository-${number++}`);
        mkdirSync(path.join(root, folder), { recursive: true });
        writeFileSync(path.join(root, folder, file), "");
        writeFileSync(path.join(root, ".gitignore"), `${lines.join("\n")}\n`);
        execFileSync("git", ["init", "-q"], { cwd: root });
        const rules = gitIgnoreOf(lines.join("\n"));
        const ignored = ignoredBy(rules, folder, true) || ignoredBy(rules, `${folder}/${file}`, false);
        expect(ignored ?? false).toBe(isIgnoredByGit(root, `${folder}/${file}`));
      }),
      { numRuns: 150, endOnFailure: true },
    );
  }, 60_000);

  it.each([
    ["*.log", "a/b.log", true],
    ["/a", "a", true],
    ["/a", "b/a", false],
    ["a/b", "c/a/b", false],
    ["a/", "a", false],
    ["a/**", "a", false],
    ["a/**", "a/b", true],
    ["*\\/**", "a/b", true],
    ["\\#a", "#a", true],
    ["\\!a", "!a", true],
    ["a\\ ", "a ", true],
    ["a  ", "a", true],
    ["*\n!a", "a", false],
    ["{a,b}", "a", false],
    ["a\r\nb\r", "b", true],
  ])("%j, asked about the file %j", (text, file, ignored) => {
    expect(ignoredBy(gitIgnoreOf(text), file, false) ?? false).toBe(ignored);
  });

  it("take no longer for many stars: a folder from elsewhere holds up nobody", async () => {
    const bench = await Workbench.open();
    await bench.put(`${"a/".repeat(60)}${"a".repeat(200)}`, "");
    await bench.put(".gitignore", `${"**/a/".repeat(40)}[b]\n${"*a".repeat(60)}*[b]\n`);
    const { metadata } = await bench.call("DirectoryTree", { depth: 64 });
    expect(metadata).toMatchObject({ entries: 61, truncated: false });
  });
});

function isIgnoredByGit(root: string, file: string): boolean {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
  const listed = execFileSync("git", ["status", "--porcelain", "-z", "-uall"], { cwd: root, env }).toString();
  return !listed.split("\0").includes(`?? ${file}`);
}
