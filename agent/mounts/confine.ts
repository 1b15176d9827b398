/** How a mounted server is started in the sandbox, if its settings ask for that. */
import { SECRET_PATHS } from "@matrx/shared/secret-paths.ts";
import type { ServerSandbox } from "../config/mount-settings.ts";
import { type Rights, unchangeableBut } from "../core/gate.ts";
import type { Wrap } from "../platform/platform.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

/** Prepares the sandbox of a server. Rejects with what this machine lacks. */
export type ConfineServer = (reach: ServerSandbox, cwd: string | undefined) => Promise<Wrap>;

/** The paths that are closed to AI grants are closed to a confined server, too. */
export function confineServersIn(sandbox: Sandbox): ConfineServer {
  return async ({ folders = [], read_only: readOnly = false, network = [] }, cwd = folders[0] ?? "/") => {
    const lack = await sandbox.lack();
    if (lack) throw new Error(`the sandbox does not work here: ${lack.why}`);
    const by = "mcpServers of the configuration";
    const rights: Rights = {
      ...{ mayRead: true, mayWrite: !readOnly, mayRunAnyProgram: true, shell: "sandbox", network },
      recordsTerminals: false,
      folderLimits: [{ by, folders }],
      closedPaths: [{ by, globs: SECRET_PATHS }],
      unchangeable: unchangeableBut(folders),
    };
    return (await sandbox.confine({ session: { cwd }, rights })).wrap;
  };
}
