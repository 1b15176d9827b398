/** Where this program keeps its files. With `MATRX_HOME`, all of them are in that folder. */
import { join, resolve } from "node:path";
import envPaths from "env-paths";
import type { Platform } from "../platform/platform.ts";
import { makePrivateFolder } from "../platform/private-file.ts";

/** Folders of one user. */
export interface Places {
  /** Configuration, written by the owner. */
  readonly config: string;
  /** What the program writes while it runs: journal, jobs. */
  readonly state: string;
  readonly logs: string;
}

export interface Home extends Places {
  readonly configFile: string;
  readonly keyFile: string;
  readonly policyFile: string;
  readonly credentialsFile: string;
  /** Settings of the command line, such as the default device. */
  readonly cliFile: string;
  readonly journalFile: string;
  /** Reported conditions that are still open. */
  readonly conditionsFile: string;
  /** Journal of `matrx serve`; `matrx up --serve` opens it too (`agent-journal.ts`). */
  readonly localJournalFile: string;
  readonly localTokenFile: string;
  readonly jobs: string;
  /** Jobs of `matrx serve`. */
  readonly localJobs: string;
  /** Log of `matrx up`; older files are beside it (`log.ts`). */
  readonly logFile: string;
  /** Log of `matrx serve`. */
  readonly localLogFile: string;
}

/** The paths for this user and environment. Creates nothing. */
export function homeOf(env: NodeJS.ProcessEnv = process.env): Home {
  const one = env.MATRX_HOME;
  if (one) {
    const folder = resolve(one);
    return placesIn({ config: folder, state: folder, logs: join(folder, "logs") });
  }
  const paths = envPaths("matrx", { suffix: "" });
  // On macOS, configuration belongs next to the data, in Application Support.
  const config = process.platform === "darwin" ? paths.data : paths.config;
  return placesIn({ config, state: paths.data, logs: paths.log });
}

/** Where these files are for a user whose environment does not say otherwise. */
export function defaultPlaces(home: string, system: Platform["name"]): Places {
  switch (system) {
    case "Darwin": {
      const data = join(home, "Library", "Application Support", "matrx");
      return { config: data, state: data, logs: join(home, "Library", "Logs", "matrx") };
    }
    case "Windows": {
      const [roaming, local] = [join(home, "AppData", "Roaming"), join(home, "AppData", "Local", "matrx")];
      return {
        config: join(roaming, "matrx", "Config"),
        state: join(local, "Data"),
        logs: join(local, "Log"),
      };
    }
    case "Linux":
      return {
        config: join(home, ".config", "matrx"),
        state: join(home, ".local", "share", "matrx"),
        logs: join(home, ".local", "state", "matrx"),
      };
  }
}

/** Creates the folders, readable only by this user. Throws MatrxError. */
export function makeHome(home: Home): void {
  for (const folder of [home.config, home.state]) makePrivateFolder(folder);
}

function placesIn({ config, state, logs }: Places): Home {
  return {
    config,
    state,
    logs,
    configFile: join(config, "config.json"),
    keyFile: join(config, "key"),
    policyFile: join(config, "policy.json"),
    credentialsFile: join(config, "credentials.json"),
    cliFile: join(config, "cli.json"),
    journalFile: join(state, "journal.sqlite"),
    conditionsFile: join(state, "conditions.json"),
    localJournalFile: join(state, "local-journal.sqlite"),
    localTokenFile: join(state, "local-token"),
    jobs: join(state, "jobs"),
    localJobs: join(state, "local-jobs"),
    logFile: join(logs, "agent.log"),
    localLogFile: join(logs, "local.log"),
  };
}
