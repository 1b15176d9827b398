/**
 * `npm run test:mcp`: our MCP servers with the clients, the servers and the conformance suite that others wrote. Their
 * packages are installed beside ours, once for each state of test/strangers. What follows `--` is for vitest. Exit code 69
 * if the packages cannot be installed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { reportAndExit } from "./problem.ts";
import { ROOT, STRANGERS } from "./tree.ts";

const FROM = join(ROOT, "test/strangers");
const MARK = join(STRANGERS, "installed");
/** EX_UNAVAILABLE of sysexits.h. */
const UNAVAILABLE = 69;
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");

await main().catch(reportAndExit);

async function main(): Promise<void> {
  if (!(await install())) {
    console.error("The packages of test/strangers cannot be installed: npm says why above");
    process.exitCode = UNAVAILABLE;
    return;
  }
  const args = [VITEST, "run", "--mode", "mcp", "--project", "mcp", ...process.argv.slice(2)];
  process.exitCode = await run(process.execPath, args, ROOT);
}

/** Without scripts: nothing that they build or fetch is used. */
async function install(): Promise<boolean> {
  const lock = readFileSync(join(FROM, "package-lock.json"), "utf8");
  if (existsSync(MARK) && readFileSync(MARK, "utf8") === lock) return true;
  console.error("Installing the packages of test/strangers (about 440 MB) ...");
  mkdirSync(STRANGERS, { recursive: true });
  rmSync(MARK, { force: true });
  for (const file of ["package.json", "package-lock.json"])
    copyFileSync(join(FROM, file), join(STRANGERS, file));
  const ci = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
  const npm = process.env.npm_execpath;
  const code = npm?.endsWith(".js")
    ? await run(process.execPath, [npm, ...ci], STRANGERS)
    : await run("npm", ci, STRANGERS);
  if (code === 0) writeFileSync(MARK, lock);
  return code === 0;
}

async function run(program: string, args: readonly string[], cwd: string): Promise<number> {
  const isScript = program === "npm" && process.platform === "win32";
  const child = spawn(program, args, { cwd, stdio: "inherit", shell: isScript });
  const [code] = await once(child, "close");
  return code ?? 1;
}
