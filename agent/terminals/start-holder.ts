/** Finds the living holder of a folder, or starts one, which goes on when the agent ends. */
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import { currentPlatform } from "../platform/current.ts";
import { cleanEnvironment } from "../platform/environment.ts";
import { makePrivateFolder } from "../platform/private-file.ts";
import { HolderLink } from "./holder-link.ts";
import type { HolderLimits } from "./protocol.ts";

const PROGRAM = createRequire(import.meta.url).resolve("#terminal-holder");
const MEMORY_MB = 128;
const START_MS = 10_000;
const LOOK_EVERY_MS = 20;
/** Characters of what a holder wrote before it ended. */
const MOST_SAID = 500;

/** The path of the holder's socket. Throws MatrxError if the system cannot have it. */
export function holderEndpoint(folder: string): string {
  const endpoint = currentPlatform().controlEndpoint(folder, "holder");
  if (endpoint !== undefined) return endpoint;
  throw agentError("UNAVAILABLE", `The path of ${folder} is too long for a socket`, {
    hint: "Set MATRX_HOME to a folder with a shorter path",
  });
}

/** A connection to a holder that may be new. Throws MatrxError. */
export async function openHolder(
  folder: string,
  env: NodeJS.ProcessEnv,
  limits: Partial<HolderLimits>,
): Promise<HolderLink> {
  const endpoint = holderEndpoint(folder);
  const living = await HolderLink.open(endpoint);
  if (living) return living;
  makePrivateFolder(folder);
  const log = join(folder, "holder.log");
  const problems = openSync(log, "w", 0o600);
  const args = [`--max-old-space-size=${MEMORY_MB}`, PROGRAM, folder, JSON.stringify(limits)];
  const child = spawn(process.execPath, args, {
    ...{ cwd: "/", env: cleanEnvironment(env), detached: true, windowsHide: true },
    stdio: ["ignore", "ignore", problems],
  });
  closeSync(problems);
  let failed: string | undefined;
  child.once("error", (error) => {
    failed = error.message;
  });
  let hasEnded = false;
  child.once("exit", () => {
    hasEnded = true;
  });
  child.unref();
  for (const until = Date.now() + START_MS; Date.now() < until && !hasEnded && failed === undefined; ) {
    const link = await HolderLink.open(endpoint);
    if (link) return link;
    await sleep(LOOK_EVERY_MS);
  }
  // Another agent may have started one at the same time.
  const other = await HolderLink.open(endpoint);
  if (other) return other;
  failed ??= hasEnded ? readFileSync(log, "utf8").trim().slice(-MOST_SAID) : undefined;
  throw notStarted(failed ?? `it did not answer within ${START_MS} ms`);
}

function notStarted(why: string): MatrxError {
  return agentError("UNAVAILABLE", `The program that holds terminals could not be started: ${why}`, {
    hint: "Try again; matrx doctor may tell more",
    details: { reason: "HOLDER_NOT_STARTED" },
  });
}
