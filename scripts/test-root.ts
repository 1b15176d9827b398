/**
 * `npm run test:root`: the tests that mount something or act for other users. Only their files are loaded: to find
 * them by their tag, vitest would import the whole suite. What follows `--` is for vitest, in place of those files.
 */
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./tree.ts";

const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");

const args = process.argv.slice(2);
const what = args.length > 0 ? args : filesOfRoot();
const vitest = [
  VITEST,
  "run",
  "--project",
  "process",
  "--project",
  "browser",
  "--tags-filter",
  "root",
  ...what,
];
process.exitCode = spawnSync(process.execPath, vitest, { cwd: ROOT, stdio: "inherit" }).status ?? 1;

/** They have the tag by the options of this name. */
function filesOfRoot(): string[] {
  return globSync("test/**/*.test.ts", { cwd: ROOT }).filter((file) =>
    readFileSync(join(ROOT, file), "utf8").includes("NEEDS_ROOT"),
  );
}
