/** Where this machine's agent keeps its files. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { MatrxError } from "@matrx/shared/errors.ts";
import { type Home, homeOf, makeHome } from "../config/app-dirs.ts";
import { noteHome } from "../config/matrx-folders.ts";
import { CLONE_FOLDER } from "../config/program.ts";

/** The agent's usual home; in a clone where no agent was paired by hand, that of `npm start` (see `MATRX_DATA`). */
export function agentHome(env: NodeJS.ProcessEnv = process.env): Home {
  const data = startedData(env);
  return data === undefined ? homeOf(env) : agentIn(data);
}

/** In such a clone, the data folder of `npm start`. */
export function startedData(env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (env.MATRX_HOME || existsSync(homeOf(env).configFile) || CLONE_FOLDER === undefined) return undefined;
  const data = resolve(env.MATRX_DATA ?? join(CLONE_FOLDER, ".matrx"));
  return existsSync(agentIn(data).configFile) ? data : undefined;
}

function agentIn(data: string): Home {
  return homeOf({ MATRX_HOME: join(data, "agent") });
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
