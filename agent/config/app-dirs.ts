/** Where this program keeps its files. With `MATRX_HOME`, all of them are in that folder. */
import { join, resolve } from "node:path";
import envPaths from "env-paths";
import type { Platform } from "../platform/platform.ts";
import { makePrivateFolder } from "../platform/private-file.ts";

/** Folders of one user. */
export interface HomeFolders {
  /** Configuration: owner-written, small. */
  readonly config: string;
  /** What the program writes while it runs: journals, jobs. */
  readonly state: string;
  readonly logs: string;
}

export interface Home extends HomeFolders {
  readonly configFile: string;
  readonly keyFile: string;
  readonly policyFile: string;
  readonly credentialsFile: string;
  /** Settings of the command line, such as the default device. */
  readonly cliFile: string;
  readonly journalFile: string;
  /** Conditions that were reported and have not ended. */
  readonly conditionsFile: string;
  /** Journal of `matrx serve`; `matrx up --serve` locks it as well (`agent-journal.ts`). */
  readonly localJournalFile: string;
  /** Locked while an agent starts. */
  readonly startLockFile: string;
  readonly localTokenFile: string;
  /** On which port `matrx serve` listens (`own-ports.ts`). */
  readonly localServerFile: string;
  /** Whom this machine is closed to (`pause-file.ts`). */
  readonly pauseFile: string;
  /** Signed ends of the account's record (`kept-heads.ts`). */
  readonly auditHeadsFile: string;
  /** Sockets by which programs of this user reach a running agent. */
  readonly controlFolder: string;
  readonly jobs: string;
  /** Jobs of `matrx serve`. */
  readonly localJobs: string;
  /** Records of unfinished uploads; the bytes are beside their targets. */
  readonly uploads: string;
  readonly localUploads: string;
  /** The program that holds terminals has its socket there. */
  readonly terminals: string;
  /** Terminals of `matrx serve`. */
  readonly localTerminals: string;
  /** Where mounted MCP servers run whose settings name no folder: no caller may write there. */
  readonly servers: string;
  /** What the owner has allowed of each mounted server (`agent/mounts/pin-file.ts`). */
  readonly pins: string;
  /** Log of `matrx up`; its older files are beside it (`log.ts`). */
  readonly logFile: string;
  /** Log of `matrx serve`. */
  readonly localLogFile: string;
}

/** This user's folders, as the environment says. Creates nothing. */
export function homeOf(env: NodeJS.ProcessEnv = process.env): Home {
  const one = env.MATRX_HOME;
  if (one) {
    const folder = resolve(one);
    return homeIn({ config: folder, state: folder, logs: join(folder, "logs") });
  }
  const paths = envPaths("matrx", { suffix: "" });
  // On macOS, configuration belongs next to the data, in Application Support.
  const config = process.platform === "darwin" ? paths.data : paths.config;
  return homeIn({ config, state: paths.data, logs: paths.log });
}

/** The folders of a user whose environment names no others. */
export function defaultFolders(home: string, system: Platform["name"]): HomeFolders {
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

/** Creates the folders, accessible to this user only. Throws MatrxError. */
export function makeHome(home: Home): void {
  for (const folder of [home.config, home.state]) makePrivateFolder(folder);
}

function homeIn({ config, state, logs }: HomeFolders): Home {
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
    localServerFile: join(state, "local-server.json"),
    pauseFile: join(state, "pause.json"),
    auditHeadsFile: join(state, "audit-heads.jsonl"),
    controlFolder: join(state, "control"),
    jobs: join(state, "jobs"),
    localJobs: join(state, "local-jobs"),
    uploads: join(state, "uploads"),
    localUploads: join(state, "local-uploads"),
    terminals: join(state, "terminals"),
    localTerminals: join(state, "local-terminals"),
    servers: join(state, "servers"),
    pins: join(state, "pins"),
    logFile: join(logs, "agent.log"),
    localLogFile: join(logs, "local.log"),
  };
}
