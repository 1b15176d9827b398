/** One run of workerd: the real binary, with the relay's secrets in its environment and nothing else. */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "../problem.ts";
import { ROOT } from "../tree.ts";
import { lastLines, logEnd, withLog } from "./log-file.ts";
import { type Child, started } from "./process.ts";
import type { Secrets } from "./secrets.ts";

export interface WorkerdOptions {
  dataDir: string;
  port: number;
  /** Host headers that are answered. */
  hosts: readonly string[];
  secrets: Secrets;
}

/** Never the shim in node_modules/.bin, which puts a Node process in front. */
export const WORKERD: string = createRequire(import.meta.url)("workerd").default;

/** Where workerd keeps a folder's objects; names the folder in its command line too. */
export function objectsOf(dataDir: string): string {
  return join(dataDir, "objects");
}

const LISTENS_WITHIN = 30_000;

export function relayLog(dataDir: string): string {
  return join(dataDir, "relay.log");
}

/** Starts workerd; resolves when it listens. Throws Problem with what it said if it does not. */
export async function startWorkerd({ dataDir, port, hosts, secrets }: WorkerdOptions): Promise<Child> {
  const log = relayLog(dataDir);
  const args = [
    "serve",
    join(ROOT, "relay.capnp"),
    `-dobjects=${objectsOf(dataDir)}`,
    `-dweb=${join(ROOT, "web")}`,
    `-shttp=127.0.0.1:${port}`,
    "--control-fd=3",
  ];
  const env = { RELAY_KEYS: secrets.relayKeys, CLAIM_SECRET: secrets.claimSecret, HOSTS: hosts.join(",") };
  return withLog(log, async (fd) => {
    const since = logEnd(log);
    // Detached: Ctrl-C reaches the launcher alone, which ends its children in order.
    const spawned = spawn(WORKERD, args, {
      cwd: ROOT,
      env,
      detached: true,
      stdio: ["ignore", fd, fd, "pipe"],
    });
    const child = await started(spawned);
    const silence = sleep(
      LISTENS_WITHIN,
      { how: `did not listen within ${LISTENS_WITHIN / 1000} s` },
      { ref: false },
    );
    const end = await Promise.race([listens(spawned.stdio[3] as Readable), child.ended, silence]);
    if (end) await child.kill();
    if (end) throw new Problem(`The relay ${end.how}. It said:\n${lastLines(log, since)}`);
    return child;
  });
}

/** Resolves when workerd reports on its control pipe that it listens. */
function listens(control: Readable): Promise<undefined> {
  return new Promise((resolve) => {
    let text = "";
    control.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      if (text.includes('"event":"listen"')) resolve(undefined);
    });
  });
}
