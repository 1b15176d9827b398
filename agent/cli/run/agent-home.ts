/** Where this machine's agent keeps its files. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { MatrxError } from "@matrx/shared/errors.ts";
import { type Home, homeOf, makeHome } from "../../config/app-dirs.ts";
import { noteHome } from "../../config/matrx-folders.ts";
import { CLONE_FOLDER } from "../../config/program.ts";

/** The agent's usual home; in a clone where no agent was paired by hand, that of `npm start` (see `MATRX_DATA`). */
export function agentHome(env: NodeJS.ProcessEnv = process.env): Home {
  const own = homeOf(env);
  if (env.MATRX_HOME || existsSync(own.configFile) || CLONE_FOLDER === undefined) return own;
  const data = env.MATRX_DATA ?? join(CLONE_FOLDER, ".matrx");
  const started = homeOf({ MATRX_HOME: join(resolve(data), "agent") });
  return existsSync(started.configFile) ? started : own;
}

/** Creates the folders, and registers them with other agents on this machine. Throws MatrxError. */
export function prepareHome(home: Home): void {
  makeHome(home);
  try {
    noteHome(home);
  } catch (error) {
    if (!(error instanceof MatrxError)) throw error;
    console.error(
      `Could not tell other agents on this machine to protect ${home.config} from their tools: ${error.message}`,
    );
  }
}
