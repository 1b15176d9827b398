/**
 * `npm run test:changed [-- BASE]`: the tests that can fail by what changed since this branch left `origin/main`, or since
 * the commit BASE. What is not committed counts, too.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { touchedBy } from "./changed-files.ts";
import { messageOf, Problem, reportAndExit } from "./problem.ts";
import { ROOT } from "./tree.ts";

const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");

try {
  process.exitCode = run(process.argv.slice(2));
} catch (error) {
  reportAndExit(error);
}

function run([base = "origin/main", ...args]: string[]): number {
  const changed = changedSince(base);
  console.log(`Files that changed since ${base}: ${changed.length}`);
  if (changed.length === 0) return 0;
  const files = touchedBy(changed).flatMap(filesAt);
  const related = ["related", "--run", "--passWithNoTests", ...args, ...files];
  return spawnSync(process.execPath, [VITEST, ...related], { cwd: ROOT, stdio: "inherit" }).status ?? 1;
}

/** Throws Problem. */
function changedSince(base: string): string[] {
  try {
    const [since = base] = git("merge-base", base, "HEAD");
    return [...git("diff", "--name-only", since), ...git("ls-files", "--others", "--exclude-standard")];
  } catch (error) {
    throw new Problem(
      `git can't tell what changed since ${base}. Name another commit: npm run test:changed -- main\n${messageOf(error)}`,
    );
  }
}

/** A file that still exists, or the tests of a folder. */
function filesAt(path: string): string[] {
  if (!path.startsWith("test/") || path.endsWith(".ts")) return existsSync(join(ROOT, path)) ? [path] : [];
  return git("ls-files", path).filter((file) => file.endsWith(".test.ts"));
}

function git(...args: string[]): string[] {
  const output = execFileSync("git", args, {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  return output.split("\n").filter((line) => line !== "");
}
