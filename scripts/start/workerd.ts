/** One run of workerd: the real binary, with the relay's secrets in its environment and nothing else. */
import { spawn } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "../problem.ts";
import { ROOT, WEB_BUNDLE } from "../tree.ts";
import type { ChildLog } from "./child-log.ts";
import { portInUse } from "./port.ts";
import { type Child, started } from "./process.ts";
import type { Secrets } from "./secrets.ts";

export interface WorkerdOptions {
  dataDir: string;
  port: number;
  /** Where it listens: `127.0.0.1`, and mostly `::1`. */
  addresses: readonly string[];
  /** The one address at which others reach it, behind a proxy; undefined: this machine alone does. */
  publicUrl: string | undefined;
  /** For web servers of devices; undefined: `localhost` alone has hosts for them. */
  forwardDomain: string | undefined;
  /** Its configuration; undefined: the relay's own. */
  config: string | undefined;
  secrets: Secrets;
  /** `OIDC_ISSUERS`; undefined: nobody signs in by an issuer. */
  issuers: string | undefined;
  /** Keeps what it prints. */
  log: ChildLog;
}

/** Never the shim in node_modules/.bin, which puts a Node process in front. */
export const WORKERD: string = createRequire(import.meta.url)("workerd").default;

/** Where workerd keeps a folder's objects; names the folder in its command line too. */
export function objectsOf(dataDir: string): string {
  return join(dataDir, "objects");
}

/** Where it keeps the files of the cloud store: a folder for each account. */
export function cloudOf(dataDir: string): string {
  return join(dataDir, "cloud");
}

const LISTENS_WITHIN = 30_000;

export function relayLog(dataDir: string): string {
  return join(dataDir, "relay.log");
}

/** Starts workerd; resolves when it listens. Throws Problem with what it said if it does not. */
export async function startWorkerd(options: WorkerdOptions): Promise<Child> {
  const { dataDir, port, addresses, publicUrl, forwardDomain, secrets, issuers, log } = options;
  const { config = join(ROOT, "relay.capnp") } = options;
  dropUnfinished(cloudOf(dataDir));
  const args = [
    "serve",
    config,
    addresses.includes("::1") ? "config" : "ipv4",
    `-dobjects=${objectsOf(dataDir)}`,
    `-dweb=${WEB_BUNDLE}`,
    `-dcloud=${cloudOf(dataDir)}`,
    ...addresses.map((address) => `-s${address}=${address.includes(":") ? `[${address}]` : address}:${port}`),
    "--control-fd=3",
  ];
  const env = {
    RELAY_KEYS: secrets.relayKeys,
    CLAIM_SECRET: secrets.claimSecret,
    HOSTS: ["localhost", "127.0.0.1", "[::1]"].map((name) => `${name}:${port}`).join(","),
    ...(publicUrl && { MATRX_URL: publicUrl }),
    ...(forwardDomain && { FORWARD_DOMAIN: forwardDomain }),
    ...(issuers && { OIDC_ISSUERS: issuers }),
  };
  // Detached: Ctrl-C reaches the launcher alone, which ends its children in order.
  const spawned = spawn(WORKERD, args, {
    cwd: ROOT,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  log.follow([spawned.stdout, spawned.stderr]);
  const child = await started(spawned);
  const silence = sleep(
    LISTENS_WITHIN,
    { how: `did not listen within ${LISTENS_WITHIN / 1000} s` },
    { ref: false },
  );
  const listening = listens(spawned.stdio[3] as Readable, addresses);
  const end = await Promise.race([listening, child.ended, silence]);
  if (end) {
    await child.kill();
    const said = await log.lastLines();
    if (/\baddress already in use\b/i.test(said)) throw await portInUse(port);
    throw new Problem(`The relay ${damageIn(said, dataDir) ?? `${end.how}. Its last messages:\n${said}`}`);
  }
  return child;
}

/** workerd writes a file beside its name first; one that is killed leaves it. */
function dropUnfinished(cloud: string): void {
  const isUnfinished = (entry: string) => /^\..+\.tmp$/.test(basename(entry));
  const entries = readdirSync(cloud, { recursive: true, encoding: "utf8" });
  for (const entry of entries.filter(isUnfinished)) rmSync(join(cloud, entry), { force: true });
}

/** Why the relay ended, if its last words tell of a damaged database: it opens some of them as it starts. */
export function damageIn(lastWords: string, dataDir: string): string | undefined {
  if (!/\bSQLITE_(CORRUPT|NOTADB)\b/.test(lastWords)) return undefined;
  return `found a damaged database in ${objectsOf(dataDir)}: bring that folder back from a backup, and start again`;
}

/** Resolves when workerd reports on its control pipe that it listens at each address. */
function listens(control: Readable, addresses: readonly string[]): Promise<undefined> {
  return new Promise((resolve) => {
    let text = "";
    control.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      const isListening = (socket: string) => text.includes(`"event":"listen","socket":"${socket}"`);
      if (addresses.every(isListening)) resolve(undefined);
    });
  });
}
