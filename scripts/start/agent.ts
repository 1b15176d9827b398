/** This machine's agent as a child of `npm start`: kept running, and waited for. */
import { spawn } from "node:child_process";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type DeviceView, deviceListSchema } from "../../shared/api.ts";
import { errorInfo } from "../../shared/errors.ts";
import { MATRX_BIN } from "../matrx-bin.ts";
import { Problem } from "../problem.ts";
import { DEFAULT_DATA } from "../tree.ts";
import { ChildLog } from "./child-log.ts";
import { request } from "./owner.ts";
import { type Child, type End, started } from "./process.ts";
import type { Relay } from "./relay.ts";
import { Supervisor } from "./supervisor.ts";
import { userEnvironment } from "./user-environment.ts";

/** How long the agent may take to end its tools' processes before it exits, in milliseconds. */
export const AGENT_GRACE = 5000;
const ONLINE_WITHIN = 20_000;
const LAST_WORDS_CHARS = 500;

export interface Agent {
  readonly pid: number | undefined;
  /** Resolves, with a sentence, when starting it again would not help. */
  readonly gaveUp: Promise<string>;
  /** The last lines that it printed. */
  lastLines(): Promise<string>;
  stop(): Promise<void>;
}

/** Where the agent of this data folder keeps its files. */
export function agentFolder(dataDir: string): string {
  return join(dataDir, "agent");
}

export interface AgentOptions {
  dataDir: string;
  /** Hears the process id at each start. */
  onStart: (pid: number) => void;
  /** Hears of each time that the agent died, and after how many milliseconds it is started again. */
  onDeath: (how: string, againInMs: number) => void;
}

/** Starts `matrx up` and keeps it running. */
export async function startAgent({ dataDir, onStart, onDeath }: AgentOptions): Promise<Agent> {
  const log = new ChildLog(join(dataDir, "agent.log"));
  const describe = async ({ code, how }: End) =>
    code === null ? how : `${how} (${lastWords(await log.lastLines())})`;
  const agent = new Supervisor(() => spawnAgent(dataDir, log), { onStart, onDeath, isFinal, describe });
  await agent.begin();
  return {
    get pid() {
      return agent.child?.pid;
    },
    gaveUp: agent.gaveUp.then(async (end) => {
      if (isAsked(end))
        return "This machine's agent was asked to stop, and did. Stop and run npm start again to bring it back.";
      if (isRefused(end))
        return "This machine was removed from the account or its key replaced, so its agent ended. Stop and run npm start again to add it back.";
      return `This machine's agent ${end.how}. Its last messages:\n${await log.lastLines()}`;
    }),
    lastLines: () => log.lastLines(),
    stop: () => agent.stop(AGENT_GRACE),
  };
}

/** Other failures may pass. If two agents run for one device, the newer stays: restarting the older would make them take turns. */
function isFinal(end: End): boolean {
  return isAsked(end) || isRefused(end) || end.code === errorInfo("CONFLICT").exit;
}

/** It was told to stop: by the command `shutdown`, or by a signal. */
function isAsked({ code }: End): boolean {
  return code === 0;
}

/** The relay does not know the device, or not its key: trying again changes nothing. */
function isRefused({ code }: End): boolean {
  return code === errorInfo("UNKNOWN_DEVICE").exit || code === errorInfo("PERMISSION_DENIED").exit;
}

function spawnAgent(dataDir: string, log: ChildLog): Promise<Child> {
  const spawned = spawn(process.execPath, [MATRX_BIN, "up"], {
    cwd: homedir(),
    env: agentEnvironment(dataDir),
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  log.follow([spawned.stdout, spawned.stderr]);
  return started(spawned);
}

/** What the agent sees: the person's own environment, where its files are, and the relays' data, which it keeps closed. */
export function agentEnvironment(dataDir: string): NodeJS.ProcessEnv {
  const closed = [...new Set([dataDir, DEFAULT_DATA])].join(delimiter);
  return { ...userEnvironment(process.env), MATRX_HOME: agentFolder(dataDir), MATRX_PROTECTED: closed };
}

/** Finds a device in the account; undefined if it was removed. */
async function findDevice(relay: Relay, token: string, id: string): Promise<DeviceView | undefined> {
  const { devices } = await request(relay, { token }, "GET /v1/devices", deviceListSchema);
  return devices.find((device) => device.id === id);
}

interface Awaited {
  token: string;
  id: string;
  stop: AbortSignal;
}

/** A command that fails prints a sentence, a hint and a code last. */
function lastWords(lines: string): string {
  return lines.split("\n").slice(-3).join(" ").slice(-LAST_WORDS_CHARS);
}

/** Waits for the device to be online, 20 seconds at most. Throws Problem when its agent ended for good. */
export async function untilOnline(
  relay: Relay,
  agent: Agent,
  { token, id, stop }: Awaited,
): Promise<DeviceView> {
  let gaveUp: string | undefined;
  void agent.gaveUp.then((how) => {
    gaveUp = how;
  });
  for (const until = performance.now() + ONLINE_WITHIN; ; await sleep(100)) {
    const isOver = performance.now() > until;
    stop.throwIfAborted();
    if (gaveUp) throw new Problem(gaveUp);
    try {
      const device = await findDevice(relay, token, id);
      if (device?.state === "ONLINE" || (device && isOver)) return device;
      if (isOver) throw new Problem("This machine was removed from the account while starting: start again.");
    } catch (error) {
      // The relay may be started again at this moment.
      if (isOver) throw error;
    }
  }
}
