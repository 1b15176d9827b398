/** Pairs this machine's agent with the relay: the agent asks, and this confirms in the owner's name. */
import { spawn } from "node:child_process";
import { hostname } from "node:os";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import * as z from "zod";
import { homeOf } from "../../agent/config/app-dirs.ts";
import { type Config, readConfig, writeConfig } from "../../agent/config/config.ts";
import { readIdentity } from "../../agent/config/identity.ts";
import { deviceViewSchema } from "../../shared/api.ts";
import { MatrxError } from "../../shared/errors.ts";
import { MATRX_BIN } from "../matrx-bin.ts";
import { Problem } from "../problem.ts";
import { agentEnvironment, agentFolder } from "./agent.ts";
import { asOwner, type Credential, Refusal, request } from "./owner.ts";
import { started } from "./process.ts";
import type { Relay } from "./relay.ts";
import { objectsOf } from "./workerd.ts";

/** The device that this machine is at the relay: the kept one, or else a new one. Throws Problem. */
export async function ensurePaired(
  relay: Relay,
  token: string,
  stop: AbortSignal,
  say: (line: string) => void,
): Promise<Config> {
  const kept = readPaired(relay.dataDir);
  if (kept && (await isKnown(relay, token, kept.device_id))) return followRelay(relay, kept);
  say(kept ? REMOVED : "Pairing this machine ...");
  await pair(relay, stop, kept ? ["--replace"] : []);
  const paired = readPaired(relay.dataDir);
  if (paired) return paired;
  throw new Problem("This machine was paired, but its agent saved no configuration: start again.");
}

const REMOVED =
  "This machine was removed from the account, and its policy there with it. Pairing it again ...";

/** False: a person removed the device. Throws Problem when the relay does not know it otherwise, or cannot read what it stored. */
async function isKnown(relay: Relay, token: string, id: string): Promise<boolean> {
  try {
    await request(relay, { token }, `GET /v1/devices/${id}`, deviceViewSchema);
    return true;
  } catch (error) {
    if (!(error instanceof Refusal) || !error.problem) throw error;
    const { code, removed, storage, detail } = error.problem;
    if (code === "UNKNOWN_DEVICE" && removed) return false;
    if (code === "UNKNOWN_DEVICE")
      throw lost(relay, `The relay doesn't know this machine (${id}), although nobody removed it`);
    if (storage === "damaged" || storage === "lost" || storage === "failed") throw lost(relay, detail);
    throw error;
  }
}

/** Never pairs again automatically: a backup may restore what was lost, and pairing again would lose the policy. */
function lost({ dataDir }: Relay, what: string): Problem {
  return new Problem(
    `${what}. Its data in ${objectsOf(dataDir)} was damaged or emptied, or is older than the pairing: restore that folder ` +
      `from a backup and start again. Or move the folder ${agentFolder(dataDir)} away: then this machine is paired again, ` +
      "as another device, and its policy at the relay must be set again.",
  );
}

/** What the agent was paired as; undefined before. Throws Problem if its files are damaged. */
function readPaired(dataDir: string): Config | undefined {
  try {
    const home = homeIn(dataDir);
    const config = readConfig(home);
    if (config) readIdentity(home);
    return config;
  } catch (error) {
    if (!(error instanceof MatrxError)) throw error;
    throw new Problem(
      `This machine's agent can't read its files (${error.message}). Correct them, or restore them from a backup; or move ` +
        `the folder ${agentFolder(dataDir)} away, and the machine is paired again as a new device.`,
    );
  }
}

/** The agent dials the address that it was paired with; the relay may listen on another port today. */
function followRelay({ dataDir, url }: Relay, config: Config): Config {
  if (config.relay === url) return config;
  const moved = { ...config, relay: url };
  writeConfig(homeIn(dataDir), moved);
  return moved;
}

function homeIn(dataDir: string) {
  return homeOf({ MATRX_HOME: agentFolder(dataDir) });
}

async function pair(relay: Relay, stop: AbortSignal, more: readonly string[]): Promise<void> {
  const name = hostname().slice(0, 64) || "this machine";
  await asOwner(relay, async (session) => {
    const pairing = spawn(
      process.execPath,
      [MATRX_BIN, "pair", "--relay", relay.url, "--name", name, "--yes", "--json", ...more],
      { env: agentEnvironment(relay.dataDir), stdio: ["ignore", "pipe", "pipe"], signal: stop },
    );
    let stderr = "";
    pairing.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    const child = await started(pairing);
    const confirmed = confirmCodes(pairing.stdout, relay, session).finally(() => child.stop(1000));
    const { code, how } = await child.ended;
    await confirmed;
    stop.throwIfAborted();
    if (code !== 0) throw new Problem(`This machine cannot be paired: ${stderr.trim() || how}`);
  });
}

const announcedSchema = z.object({ code: z.string() });

/** Reads the code that `matrx pair --json` announces, and says yes to it. Resolves when the output ends. */
async function confirmCodes(stdout: Readable, relay: Relay, session: Credential): Promise<void> {
  for await (const line of createInterface({ input: stdout })) {
    const announced = announcedSchema.safeParse(jsonOf(line));
    if (!announced.success) continue;
    const code = encodeURIComponent(announced.data.code);
    await request(relay, session, `POST /v1/pairings/${code}/confirm`, z.unknown(), {});
  }
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
