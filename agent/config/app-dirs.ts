/** Where this program keeps its files. `MATRX_HOME` puts all of them into one folder. */
import { join, resolve } from "node:path";
import envPaths from "env-paths";
import type { Platform } from "../platform/platform.ts";
import { makePrivateFolder } from "../platform/private-file.ts";

/** Folders of one user. */
export interface Places {
  /** Configuration: owner-written, small. */
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
  /** What the command line was told to remember, such as the default device. */
  readonly cliFile: string;
  readonly journalFile: string;
  /** Conditions that were reported and are not over. */
  readonly conditionsFile: string;
  /** Journal of `matrx serve`; `matrx up --serve` holds it, too (`agent-journal.ts`). */
  readonly localJournalFile: string;
  /** Locked while an agent starts. */
  readonly startLockFile: string;
  readonly localTokenFile: string;
  readonly jobs: string;
  /** Jobs of `matrx serve`. */
  readonly localJobs: string;
  /** What `matrx up` logs; older files of it lie beside it (`log.ts`). */
  readonly logFile: string;
  /** What `matrx serve` logs. */
  readonly localLogFile: string;
}

/** The places for this user, by the environment. Makes nothing. */
export function homeOf(env: NodeJS.ProcessEnv = process.env): Home {
  const one = env.MATRX_HOME;
  if (one) {
    const folder = resolve(one);
    return placesIn({ config: folder, state: folder, logs: join(folder, "logs") });
  }
  const paths = envPaths("matrx", { suffix: "" });
  // macOS: configuration belongs beside the data, in Application Support.
  const config = process.platform === "darwin" ? paths.data : paths.config;
  return placesIn({ config, state: paths.data, logs: paths.log });
}

/** Where a user keeps these files whose environment names no other places. */
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

/** Makes the folders, for this user alone. Throws MatrxError. */
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
    startLockFile: join(state, "start-lock"),
    localTokenFile: join(state, "local-token"),
    jobs: join(state, "jobs"),
    localJobs: join(state, "local-jobs"),
    logFile: join(logs, "agent.log"),
    localLogFile: join(logs, "local.log"),
  };
}
