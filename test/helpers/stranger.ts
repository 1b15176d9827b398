/** Somebody who has our packages and not this clone. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { findProgram } from "../../agent/platform/run-program.ts";
import { userEnvironment } from "../../scripts/start/user-environment.ts";

const run = promisify(execFile);

/** Nothing of this clone, but how npm gets through to its registry. */
export const ENV: NodeJS.ProcessEnv = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => /^npm_config_/i.test(name))),
  ...userEnvironment(process.env),
  npm_config_local_prefix: undefined,
};

/** Node without this clone's, as a program with `#!/usr/bin/env node` finds it. */
export const NODE = findProgram("node", ENV) ?? process.execPath;

/** Whether npm gets packages, such as this one. */
export function hasRegistry(name: string): Promise<boolean> {
  return run("npm", ["view", name, "name", "--fetch-retries=0"], { env: ENV }).then(
    () => true,
    () => false,
  );
}
