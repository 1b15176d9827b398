/** What `up` and `serve` run: the tools of this machine and the sessions that they share. */
import type { GrantId } from "@matrx/shared/ids.ts";
import type { Logger } from "pino";
import type { Home } from "./config/app-dirs.ts";
import { MatrxFolders } from "./config/matrx-folders.ts";
import type { SessionSource } from "./core/dispatcher.ts";
import type { PathCheck } from "./core/gate.ts";
import { Sessions } from "./core/sessions.ts";
import type { Tool } from "./core/tool.ts";
import { Desktop } from "./desktop/desktop.ts";
import { Files } from "./fs/access.ts";
import type { ProtectedPaths } from "./fs/protected-paths.ts";
import { Jobs } from "./jobs/jobs.ts";
import { deviceTools } from "./tools/index.ts";

export interface Toolbox {
  readonly tools: readonly Tool[];
  readonly sessions: SessionSource;
  readonly checkPaths: PathCheck;
  /** What is closed to them, as things stand when it is called. */
  readonly protectedPaths: () => ProtectedPaths;
  /** A grant is gone: its sessions and jobs end. */
  endGrant(grant: GrantId): void;
  /** Lets go of what runs in the background: it goes on, and is found again. */
  close(): void;
}

export interface ToolboxOptions {
  readonly home: Home;
  /** Where jobs lie; one program at a time. */
  readonly jobs: string;
  readonly log: Logger;
}

/** The tools of this machine. What is Matrx's own on it is closed to them. */
export async function openToolbox({ home, jobs: directory, log }: ToolboxOptions): Promise<Toolbox> {
  const jobs = await Jobs.open({ directory });
  const folders = new MatrxFolders(home);
  const files = new Files({ protectedPaths: () => folders.current() });
  const desktop = new Desktop();
  const sessions = new Sessions();
  return {
    tools: deviceTools({ files, jobs, desktop }),
    sessions,
    checkPaths: (paths, caller) => files.check(paths, caller),
    protectedPaths: files.protectedPaths,
    endGrant: (grant) => {
      sessions.endGrant(grant);
      jobs
        .endGrant(grant)
        .catch((err) => log.error({ err, grant }, "jobs of an ended grant could not be stopped"));
    },
    close: () => {
      jobs.close();
      desktop.close();
    },
  };
}
