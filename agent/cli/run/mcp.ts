/** Runs `matrx mcp`. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { accountViewSchema } from "@matrx/shared/api.ts";
import { EFFECTS } from "@matrx/shared/effects.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import type { Family } from "@matrx/shared/tool-families.ts";
import { startAgent } from "../../agent.ts";
import { type Home, homeOf } from "../../config/app-dirs.ts";
import { readConfig } from "../../config/config.ts";
import { LOCAL_GRANT } from "../../core/journal-entry.ts";
import { runProxy } from "../../mcp/proxy.ts";
import { jobsIn, openRunFolder, sweepRunFolders } from "../../mcp/run-folder.ts";
import { isMounted } from "../../mounts/mark.ts";
import { prepareHome } from "../agent-home.ts";
import { type CallerOptions, callerOf } from "../client/credentials.ts";
import { findDevice } from "../client/find-device.ts";
import { usageError } from "../output/failure.ts";
import { asTyped } from "../program-name.ts";
import { type LogChoice, logTo } from "./options.ts";
import { stopSignal } from "./stop-signal.ts";

export interface McpOptions extends CallerOptions, LogChoice {
  device?: string;
  allDevices?: boolean;
  tools?: readonly Family[];
  readOnly?: boolean;
  folder?: string[];
  network?: string[];
  asOwner?: boolean;
}

/** `matrx up` watches the machine. */
const UNWATCHED = { low_disk_space: { enabled: false }, high_cpu_usage: { enabled: false } };

/** Runs until the client closes stdin. Throws MatrxError. */
export async function runMcp(options: McpOptions): Promise<void> {
  const stop = stopSignal();
  if (process.stdin.isTTY)
    console.error(
      asTyped(
        "An AI program starts this by itself. To put it into one: matrx mcp --print-config claude-code",
      ),
    );
  if (options.device !== undefined || options.allDevices) return await runRemote(options, stop);
  await runHere(options, stop);
}

async function runRemote(options: McpOptions, stop: AbortSignal): Promise<void> {
  const local = (["readOnly", "folder", "network", "asOwner"] as const).find((name) => options[name]);
  if (local)
    throw usageError(
      "--read-only, --folder, --network and --as-owner are for this machine",
      "At the relay, the token says what may be done: matrx token create --help",
    );
  const client = callerOf(options);
  // What is wrong with the relay's address or the token is said here, in words that a person can act on.
  await client.get("/v1/account", accountViewSchema);
  const path = options.device === undefined ? "/mcp" : `/mcp/d/${await findDevice(client, options.device)}`;
  const query = options.tools ? `?tools=${options.tools.join()}` : "";
  await runProxy({ url: new URL(path + query, client.relay), token: (await client.token()) ?? "" }, stop);
}

/** Several clients may each start one, so each has a folder of its own while it runs. */
async function runHere(options: McpOptions, stop: AbortSignal): Promise<void> {
  const home = homeOf();
  prepareHome(home);
  const config = readConfig(home);
  // A mounted one mounts nothing: it may stand in its own list of servers.
  const mcpServers = isMounted(process.env) ? undefined : config?.mcpServers;
  using run = openRunFolder(home.state, Object.keys(mcpServers ?? {}));
  void sweepRunFolders(home.state, run.path);
  const end = await startAgent(
    {
      ...{ home: homeIn(home, run.path), device: config?.device_id ?? "localhost", mcp: scopeOf(options) },
      monitors: UNWATCHED,
      mcpServers,
      log: logTo(join(home.logs, "mcp.log"), options),
    },
    stop,
  );
  if (end instanceof MatrxError) throw end;
}

function homeIn(home: Home, folder: string): Home {
  return {
    ...home,
    journalFile: join(folder, "journal.sqlite"),
    localJournalFile: join(folder, "local-journal.sqlite"),
    startLockFile: join(folder, "start-lock"),
    jobs: jobsIn(folder),
    localJobs: jobsIn(folder),
    uploads: join(folder, "uploads"),
    localUploads: join(folder, "uploads"),
  };
}

/** Whoever is at the other end is an AI, which never acts for the owner unless its owner says so here. */
function scopeOf({ tools, readOnly, folder, network, asOwner }: McpOptions): GrantScope & { id: GrantId } {
  if (asOwner && (readOnly || folder || network))
    throw usageError(
      "--as-owner has no limits",
      "Leave out --read-only, --folder and --network, or --as-owner",
    );
  const families = tools && { tool_families: [...tools] };
  if (asOwner) return { id: LOCAL_GRANT, owner: true, effects: [...EFFECTS], ...families };
  return {
    ...families,
    ...{ id: LOCAL_GRANT, owner: false, effects: readOnly ? ["read"] : [...EFFECTS] },
    ...(folder && { paths: folder.map((path) => resolve(path.replace(/^~(?=\/|$)/, homedir()))) }),
    ...(network && { network }),
  };
}
