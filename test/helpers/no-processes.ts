/** In the `unit` project: a test that starts a process fails, so that the project stays fast and needs nothing but Node. */
import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { afterAll, afterEach } from "vitest";

const WHY = "Unit tests start no processes: name the file *.process.test.ts";
const STARTERS = ["spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync", "fork"] as const;

/** Code that does without a program it can't start would hide that a test no longer tests it. */
const started: string[] = [];

for (const name of STARTERS) {
  const refuse = (program: unknown) => {
    started.push(String(program));
    throw new Error(WHY);
  };
  Object.assign(childProcess, { [name]: refuse });
}
syncBuiltinESMExports();

function complain(): void {
  const programs = started.splice(0);
  if (programs.length > 0) throw new Error(`${WHY}. It started ${[...new Set(programs)].join(", ")}`);
}

afterEach(complain);
afterAll(complain);
