/** Where this machine's agent keeps its files, however it is started. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Home, homeOf } from "../../config/app-dirs.ts";
import { CLONE_FOLDER } from "../../config/program.ts";

/**
 * The agent's own place; in a clone, where no agent was paired by hand, that of `npm start`. `MATRX_HOME` and `MATRX_DATA`
 * say otherwise.
 */
export function agentHome(env: NodeJS.ProcessEnv = process.env): Home {
  const own = homeOf(env);
  if (env.MATRX_HOME || existsSync(own.configFile) || CLONE_FOLDER === undefined) return own;
  const data = env.MATRX_DATA ?? join(CLONE_FOLDER, ".matrx");
  const started = homeOf({ MATRX_HOME: join(resolve(data), "agent") });
  return existsSync(started.configFile) ? started : own;
}
