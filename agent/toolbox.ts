/** What `up` and `serve` run: the tools of this machine and the sessions that they share. */
import type { GrantId } from "@matrx/shared/ids.ts";
import type { Logger } from "pino";
import type { SessionSource } from "./dispatch.ts";
import type { Home } from "./home.ts";
import { Sessions } from "./sessions.ts";
import type { Tool } from "./tool.ts";

export interface Toolbox {
  readonly tools: readonly Tool[];
  readonly sessions: SessionSource;
  /** A grant is gone: its sessions and jobs end. */
  endGrant(grant: GrantId): void;
  close(): Promise<void>;
}

/** The tools of this machine, with the files they keep in its home. */
export async function openToolbox(_home: Home, _log: Logger): Promise<Toolbox> {
  const sessions = new Sessions();
  return {
    tools: [],
    sessions,
    endGrant: (grant) => sessions.endGrant(grant),
    close: async () => {},
  };
}
