/**
 * `npm run test:changed [-- BASE]`: the tests that can fail by what changed since the commit BASE, or since this branch left
 * `origin/main`. Which ones, the imports say; for what tests start instead of importing it, the file by which they start it.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { AGENT } from "./agent-bundle.ts";
import { messageOf, Problem, reportAndExit } from "./problem.ts";
import { ROOT } from "./tree.ts";
import { WEB } from "./web-bundle.ts";
import { WORKER } from "./worker-bundle.ts";

const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");

/** A change in one of the `sources` touches what imports one of `startedBy`, and the tests there. */
const STARTED: readonly { sources: readonly string[]; startedBy: readonly string[] }[] = [
  { sources: WORKER.sources, startedBy: ["scripts/worker-bundle.ts", "test/worker"] },
  { sources: AGENT.sources, startedBy: ["scripts/matrx-bin.ts"] },
  { sources: WEB.sources, startedBy: ["test/helpers/browser.ts", "agent/local/reference.ts"] },
  {
    sources: ["README.md", "CONTRIBUTING.md", "docs", "package.json"],
    startedBy: ["test/docs", "test/readme.process.test.ts"],
  },
  { sources: ["scripts", "relay.capnp"], startedBy: ["test/scripts"] },
];

try {
  process.exitCode = run(process.argv.slice(2));
} catch (error) {
  reportAndExit(error);
}

function run([base = "origin/main", ...args]: string[]): number {
  const changed = changedSince(base);
  if (changed.length === 0) {
    console.log(`Nothing changed since ${base}.`);
    return 0;
  }
  const started = STARTED.filter(({ sources }) =>
    changed.some((file) => sources.some((source) => isIn(file, source))),
  );
  const touched = [...changed, ...started.flatMap(({ startedBy }) => startedBy.flatMap(filesOf))];
  const files = [...new Set(touched)].filter((file) => existsSync(join(ROOT, file)));
  console.log(`${changed.length} files changed since ${base}`);
  const related = ["related", "--run", "--passWithNoTests", ...args, ...files];
  return spawnSync(process.execPath, [VITEST, ...related], { cwd: ROOT, stdio: "inherit" }).status ?? 1;
}

/** Committed or not, new ones included. Throws Problem. */
function changedSince(base: string): string[] {
  try {
    const since = git("merge-base", base, "HEAD");
    return [...git("diff", "--name-only", ...since), ...git("ls-files", "--others", "--exclude-standard")];
  } catch (error) {
    throw new Problem(
      `git cannot tell what changed since ${base}; name another commit: npm run test:changed -- main\n${messageOf(error)}`,
    );
  }
}

function filesOf(path: string): string[] {
  return git("ls-files", path).filter(
    (file) => !path.startsWith("test/") || /\.test\.ts$|^test\/helpers\//.test(file),
  );
}

function git(...args: string[]): string[] {
  const stdio = ["ignore", "pipe", "pipe"] as const;
  return execFileSync("git", args, { cwd: ROOT, encoding: "utf8", stdio: [...stdio] })
    .split("\n")
    .filter(Boolean);
}

function isIn(file: string, source: string): boolean {
  return file === source || file.startsWith(`${source}/`);
}
