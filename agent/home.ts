/** Where this program keeps its files. `MATRX_HOME` puts all of them into one folder. */
import { join, resolve } from "node:path";
import envPaths from "env-paths";
import { makePrivateFolder } from "./private-file.ts";

export interface Home {
  /** Configuration: owner-written, small. */
  readonly config: string;
  /** What the program writes while it runs: journal, jobs. */
  readonly state: string;
  readonly configFile: string;
  readonly keyFile: string;
  readonly policyFile: string;
  readonly credentialsFile: string;
  /** What the command line was told to remember, such as the default device. */
  readonly cliFile: string;
  readonly journalFile: string;
  /** Conditions that were reported and are not over. */
  readonly conditionsFile: string;
  /** Journal of the local server, for calls with an idempotency key. */
  readonly localJournalFile: string;
  readonly localTokenFile: string;
  readonly jobs: string;
  /** Jobs of the local server. */
  readonly localJobs: string;
  readonly logs: string;
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

/** Makes the folders, for this user alone. Throws MatrxError. */
export function makeHome(home: Home): void {
  for (const folder of [home.config, home.state]) makePrivateFolder(folder);
}

function placesIn({ config, state, logs }: Pick<Home, "config" | "state" | "logs">): Home {
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
