/** In the `unit` project: a test that starts a process fails, so that the project stays fast and needs nothing but Node. */
import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";

const refuse = () => {
  throw new Error("Unit tests start no processes: name the file *.process.test.ts");
};

for (const name of ["spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync", "fork"] as const)
  Object.assign(childProcess, { [name]: refuse });
syncBuiltinESMExports();
