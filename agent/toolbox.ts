/** What `up` and `serve` both run: this machine's tools and the sessions that they share. */
import { join } from "node:path";
import { EVERY_GRANT } from "@matrx/shared/device-frames.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import type { Paused } from "@matrx/shared/paused.ts";
import type { Logger } from "pino";
import type { Home } from "./config/app-dirs.ts";
import { MatrxFolders } from "./config/matrx-folders.ts";
import type { InsideLook, PathLook } from "./core/approved-state.ts";
import type { SessionSource } from "./core/examiner.ts";
import type { PathCheck } from "./core/gate.ts";
import { isLocalGrant } from "./core/journal-entry.ts";
import { Sessions } from "./core/sessions.ts";
import type { Tool } from "./core/tool.ts";
import { Desktop } from "./desktop/desktop.ts";
import { Files } from "./fs/access.ts";
import { statesOf } from "./fs/path-state.ts";
import { pathsInside } from "./fs/paths-inside.ts";
import type { ProtectedPaths } from "./fs/protected-paths.ts";
import { Jobs } from "./jobs/jobs.ts";
import { type ConfineServer, confineServersIn } from "./mounts/confine.ts";
import { Pictures } from "./pictures/pictures.ts";
import { OwnPorts } from "./ports/own-ports.ts";
import { DomainProxies } from "./sandbox/domain-proxies.ts";
import { Sandbox } from "./sandbox/sandbox.ts";
import { Terminals } from "./terminals/terminals.ts";
import { deviceTools } from "./tools/index.ts";
import { Uploads } from "./transfers/uploads.ts";

export interface Toolbox {
  readonly tools: readonly Tool[];
  readonly sessions: SessionSource;
  readonly checkPaths: PathCheck;
  readonly lookAtPaths: PathLook;
  readonly lookInside: InsideLook;
  /** The paths that tools may not touch, as of the time of the call. */
  readonly protectedPaths: () => ProtectedPaths;
  readonly confineServer: ConfineServer;
  readonly pictures: Pictures;
  /** Drops the sessions of a revoked grant, and its pictures. */
  endSessions(grant: GrantId): void;
  /** Ends the jobs and terminals of a grant that was revoked or narrowed; of `EVERY_GRANT`, of all but local callers. */
  endCommands(grant: GrantId): void;
  /** Stops the jobs and terminals of those whom a pause concerns; resolves with the calls that started the jobs. */
  stopJobs(paused: Paused): Promise<readonly string[]>;
  /** Detaches background jobs and terminals: they keep running, and are found again later. */
  close(): void;
}

export interface ToolboxOptions {
  readonly home: Home;
  /** The folder of jobs; only one program may use it at a time. */
  readonly jobs: string;
  /** The folder of unfinished uploads; the same holds. */
  readonly uploads: string;
  /** The relay that the agent connects to; absent: none. */
  readonly relay?: string | undefined;
  /** The folder of terminals; those of an earlier run are found there. */
  readonly terminals: string;
  readonly log: Logger;
}

/** Opens the tools of this machine. Matrx's own files are off limits to them. */
export async function openToolbox(options: ToolboxOptions): Promise<Toolbox> {
  const { home, jobs: directory, relay, log } = options;
  const jobs = await Jobs.open({ directory });
  const folders = new MatrxFolders(home);
  const pictures = new Pictures();
  const files = new Files({ protectedPaths: () => folders.current(), pictures });
  const ownPorts = new OwnPorts({ relay, folders: () => folders.current().closed });
  const desktop = new Desktop({ pictures });
  // A folder that is no job's is removed when the next agent opens them.
  const proxies = new DomainProxies(join(directory, "network"));
  const sandbox = new Sandbox({ files, proxies });
  const sessions = new Sessions();
  const uploads = new Uploads({
    ...{ directory: options.uploads, platform: files.platform },
    failed: (err) => log.warn({ err }, "an upload could not be recorded, or removed"),
  });
  void uploads.sweep();
  const terminals = new Terminals({ folder: options.terminals });
  void sandbox.lack().then((lack) => {
    if (lack) log.warn(lack, "the sandbox does not work: commands of AI grants are refused");
  });
  return {
    tools: deviceTools({ files, jobs, desktop, sandbox, uploads, ownPorts, terminals }),
    sessions,
    checkPaths: (paths, caller) => files.check(paths, caller),
    lookAtPaths: (paths, caller, signal) => statesOf(files, paths, caller, signal),
    lookInside: (states, caller, signal) => pathsInside(files, states, caller, signal),
    protectedPaths: files.protectedPaths,
    confineServer: confineServersIn(sandbox),
    pictures,
    endSessions: (grant) => {
      sessions.endGrant(grant);
      pictures.endGrant(grant);
    },
    endCommands: (grant) => {
      const isMeant = (one: string | undefined) =>
        grant === EVERY_GRANT ? !isLocalGrant(one) : one === grant;
      jobs
        .endOf(isMeant)
        .catch((err) => log.error({ err, grant }, "jobs of an ended grant could not be stopped"));
      terminals
        .endOf(isMeant)
        .catch((err) => log.error({ err, grant }, "terminals of an ended grant could not be closed"));
    },
    stopJobs: async (paused) => {
      const [calls] = await Promise.all([jobs.stopFor(paused), terminals.stopFor(paused)]);
      return calls;
    },
    close: () => {
      jobs.close();
      uploads.close();
      terminals.disconnect();
      desktop.close();
      void sandbox.close();
      void proxies.close();
    },
  };
}
