/**
 * `npm run test:mcp`: our MCP servers with the clients, the servers and the conformance suite that others wrote. Their
 * packages are installed beside ours, once for each state of test/strangers. What follows `--` is for vitest. Exit code 69
 * if the packages cannot be installed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { installAside, UNAVAILABLE } from "./install-aside.ts";
import { reportAndExit } from "./problem.ts";
import { ROOT, STRANGERS } from "./tree.ts";

const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");

await main().catch(reportAndExit);

async function main(): Promise<void> {
  const from = join(ROOT, "test/strangers");
  process.exitCode = (await installAside({ from, into: STRANGERS, megabytes: 440 }))
    ? await runTests()
    : UNAVAILABLE;
}

async function runTests(): Promise<number> {
  const args = [VITEST, "run", "--mode", "mcp", "--project", "mcp", ...process.argv.slice(2)];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: "inherit" });
  const [code] = await once(child, "close");
  return code ?? 1;
}
