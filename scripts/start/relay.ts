/** The embedded relay alone: `npm start` adds this machine's agent to it, tests and benchmarks use it as it is. */
import { setTimeout as sleep } from "node:timers/promises";
import { fetchElsewhere } from "../../agent/network/fetch.ts";
import { Problem } from "../problem.ts";
import { ChildLog } from "./child-log.ts";
import { makeClaimCode, makeSignInLink } from "./claim.ts";
import { openDataFolder } from "./data-folder.ts";
import { DataWatch } from "./data-watch.ts";
import { exhaustionIn, requireDescriptors } from "./descriptors.ts";
import { openIssuers } from "./issuers.ts";
import { findPort } from "./port.ts";
import type { End } from "./process.ts";
import { openSecrets, type Secrets } from "./secrets.ts";
import { Supervisor } from "./supervisor.ts";
import { damageIn, relayLog, startWorkerd } from "./workerd.ts";

export interface RelayOptions {
  /** Folder of keys and data; made if it is not there. */
  dataDir: string;
  /** 0: any free one. */
  port: number;
  /** The one address at which others reach it, behind a proxy; undefined: this machine alone does. */
  publicUrl?: string | undefined;
  /** For web servers of devices, besides `localhost`. */
  forwardDomain?: string | undefined;
  /** workerd's configuration, if it is not the relay's own. */
  config?: string | undefined;
  /** Hears the process id at each start. */
  onStart?: (pid: number) => void;
  /** Hears of each time that the relay died, and after how many milliseconds it is started again. */
  onDeath?: (how: string, againInMs: number) => void;
}

export interface Relay {
  /** For this machine itself. */
  readonly url: string;
  /** For people: where links lead. */
  readonly publicUrl: string;
  readonly port: number;
  readonly dataDir: string;
  readonly secrets: Secrets;
  /** Process id of workerd, as long as it runs. */
  readonly pid: number | undefined;
  /** A fresh code for `POST /v1/claim`. */
  claimCode(): Promise<string>;
  signInLink(): Promise<string>;
  /** Kills workerd as a crash would; it is back after a moment, on the same port. */
  kill(): Promise<void>;
  /** Resolves when the relay answers. Throws Problem after 10 s. */
  ready(): Promise<void>;
  /** Rejects with Problem once the data folder is gone; resolves when `signal` aborts. */
  untilGone(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

/** workerd serves open WebSockets on after SIGTERM; this long, in milliseconds, it may take to end. */
export const STOP_GRACE = 1000;
const READY_WITHIN = 10_000;

/** Starts the relay; resolves when it answers. Throws Problem. */
export async function startRelay(options: RelayOptions): Promise<Relay> {
  const { dataDir, publicUrl, forwardDomain, config, onStart, onDeath } = options;
  requireDescriptors();
  openDataFolder(dataDir);
  let secrets = await openSecrets(dataDir);
  const issuers = openIssuers(dataDir);
  const data = new DataWatch(dataDir);
  const { port, addresses } = await findPort(options.port);
  const url = `http://localhost:${port}`;
  const log = new ChildLog(relayLog(dataDir));
  // They may have been rotated since the last start.
  const start = async () => {
    // An empty folder would be taken for that of a new relay.
    data.require();
    secrets = await openSecrets(dataDir);
    // Another program may have taken it since the relay died.
    await findPort(port);
    return startWorkerd({
      ...{ dataDir, port, addresses, publicUrl, forwardDomain, config, secrets, issuers, log },
    });
  };
  const describe = async ({ code, how }: End) => {
    data.require();
    if ((await openSecrets(dataDir)).relayKeys !== secrets.relayKeys) return "has new keys";
    const said = await log.lastLines();
    const known = exhaustionIn(said) ?? damageIn(said, dataDir);
    return known ?? (code === null ? how : `${how} (${relayLog(dataDir)} says why)`);
  };
  const workerd = new Supervisor(start, { onStart, onDeath, describe });
  await workerd.begin();
  const relay: Relay = {
    url,
    publicUrl: publicUrl ?? url,
    port,
    dataDir,
    get secrets() {
      return secrets;
    },
    get pid() {
      return workerd.child?.pid;
    },
    claimCode: () => makeClaimCode(secrets.claimSecret),
    signInLink: () => makeSignInLink(publicUrl ?? url, secrets.claimSecret),
    kill: async () => workerd.child?.kill(),
    ready: () => untilHealthy(url),
    untilGone: (signal) => data.untilGone(signal),
    stop: () => workerd.stop(STOP_GRACE),
  };
  try {
    await relay.ready();
  } catch (error) {
    await relay.stop();
    throw error;
  }
  return relay;
}

async function untilHealthy(url: string): Promise<void> {
  let last = "nothing";
  for (const until = performance.now() + READY_WITHIN; performance.now() < until; await sleep(25)) {
    try {
      const response = await fetchElsewhere(`${url}/v1/health`, { signal: AbortSignal.timeout(2000) });
      const body = await response.text();
      if (response.ok) return;
      last = `${response.status} ${body.slice(0, 300)}`;
    } catch (error) {
      last = String(error instanceof Error && error.cause ? error.cause : error);
    }
  }
  throw new Problem(`The relay at ${url} does not respond. Last answer: ${last}`);
}
