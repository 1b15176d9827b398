/** What every device needs: a recent Node, writable folders, room on the disk, a shell. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import type { Home } from "../config/app-dirs.ts";
import { readConfig } from "../config/config.ts";
import { PauseFile } from "../config/pause-file.ts";
import { PolicyFile } from "../config/policy-file.ts";
import { AGENT_VERSION } from "../config/program.ts";
import { placeOf, proxyFor } from "../network/proxy.ts";
import { roomAt } from "../platform/disk-room.ts";
import { cleanEnvironment } from "../platform/environment.ts";
import type { Platform } from "../platform/platform.ts";
import { makePrivateFolder } from "../platform/private-file.ts";
import { findProgram } from "../platform/run-program.ts";
import { type Check, type Finding, missing, ok } from "./parts.ts";

const NODE_NEEDED = 24;
const GIB = 1024 ** 3;
/** Journal, jobs and logs together take less, in bytes. */
const ROOM_NEEDED = GIB;
/** The usual limit on watches on desktop systems. */
const WATCHES_USUAL = 65_536;
const WATCHES_FILE = "/proc/sys/fs/inotify/max_user_watches";

export function machineChecks(home: Home, platform: Platform): readonly Check[] {
  return [
    { name: "program", look: program },
    { name: "folders", look: () => folders(home, platform) },
    { name: "disk", look: () => disk(home) },
    { name: "shell", look: () => shell(platform) },
    { name: "policy", look: () => policy(home) },
    { name: "pause", look: () => pause(home) },
    { name: "watching", look: () => watches(platform) },
    { name: "proxy", look: () => proxy(home) },
  ];
}

function program(): Finding {
  const fact = `matrx ${AGENT_VERSION} on Node ${process.versions.node}`;
  if (Number.parseInt(process.versions.node, 10) >= NODE_NEEDED) return ok(fact);
  throw failure(fact, `Install Node ${NODE_NEEDED} or newer`);
}

/** Throws MatrxError if one is not writable, or is open to other users. */
function folders({ config, state, logs }: Home, { name }: Platform): Finding {
  const all = [...new Set([config, state, logs])];
  for (const folder of all) {
    makePrivateFolder(folder);
    if (name !== "Windows" && (statSync(folder).mode & 0o077) !== 0) {
      throw failure(`${folder} is open to other users of this machine`, `Run: chmod 700 '${folder}'`);
    }
  }
  return ok(all.join(", "));
}

async function disk({ state }: Home): Promise<Finding> {
  const { freeBytes } = await roomAt(state);
  const fact = `${(freeBytes / GIB).toFixed(1)} GiB free on the journal's drive`;
  if (freeBytes >= ROOM_NEEDED) return ok(fact);
  throw failure(fact, "Free some space: results of calls and logs of jobs are kept there");
}

function shell(platform: Platform): Finding {
  const { file } = platform.shell(cleanEnvironment(process.env), existsSync);
  if (!findProgram(file, process.env))
    throw failure(`${file} does not exist, or is not executable`, "Bash needs it");
  return ok(file);
}

function policy(home: Home): Finding {
  const file = new PolicyFile(home);
  const { allowed_tools, allowed_paths, allowed_apps, allowed_ports } = file.current();
  const [warning] = file.warnings([]);
  if (warning) return missing(warning, `Correct it in ${home.policyFile}`);
  const limits = Object.entries({
    tools: allowed_tools,
    folders: allowed_paths,
    apps: allowed_apps,
    ports: allowed_ports,
  })
    .filter(([, list]) => list !== undefined)
    .map(([what]) => what);
  return ok(
    limits.length > 0 ? `${home.policyFile} limits ${limits.join(", ")}` : "no limits on this machine",
  );
}

function pause(home: Home): Finding {
  const { current, damage } = new PauseFile(home);
  if (!current) return ok("open to callers");
  const why = damage === undefined ? "" : `, because of ${damage}`;
  const fact = `closed to ${current === "everyone" ? "all callers" : "AI grants"}${why}`;
  return missing(fact, "To open it again, run: matrx resume");
}

function watches({ name }: Platform): Finding {
  if (name !== "Linux") return ok("the system sets no limit on watched folders");
  const limit = Number(readFileSync(WATCHES_FILE, "utf8"));
  const fact = `up to ${limit} folders and files can be watched`;
  if (limit >= WATCHES_USUAL) return ok(fact);
  return missing(
    fact,
    `Raise it for large watched folders: sysctl fs.inotify.max_user_watches=${WATCHES_USUAL}`,
  );
}

/** Throws MatrxError for one that we can't use. */
function proxy(home: Home): Finding {
  const relay = readConfig(home)?.relay;
  const found = proxyFor(new URL(relay ?? "https://relay.example"));
  if (found) return ok(`${relay ?? "a relay elsewhere"} is reached through ${placeOf(found)}`);
  return ok(`${relay ?? "a relay elsewhere"} is reached without one`);
}

function failure(message: string, hint: string): MatrxError {
  return agentError("UNAVAILABLE", message, { hint });
}
