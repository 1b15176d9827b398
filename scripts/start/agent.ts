/** This machine's agent as a child of `npm start`: kept running, and waited for. */
import { spawn } from "node:child_process";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type DeviceView, deviceListSchema } from "../../shared/api.ts";
import { faceOf } from "../../shared/errors.ts";
import { Problem } from "../problem.ts";
import { DEFAULT_DATA, MATRX_BIN } from "../tree.ts";
import { lastLines, logEnd, withLog } from "./log-file.ts";
import { request } from "./owner.ts";
import { type Child, type End, started } from "./process.ts";
import type { Relay } from "./relay.ts";
import { Supervisor } from "./supervisor.ts";
import { userEnvironment } from "./user-environment.ts";

/** The agent ends its tools' processes before it goes; this long, in milliseconds, it may take. */
const AGENT_GRACE = 5000;
const ONLINE_WITHIN = 20_000;

export interface Agent {
  readonly pid: number | undefined;
  readonly gaveUp: Promise<string>;
  stop(): Promise<void>;
}

/** Where the agent of this data folder keeps its files. */
export function agentFolder(dataDir: string): string {
  return join(dataDir, "agent");
}

function agentLog(dataDir: string): string {
  return join(dataDir, "agent.log");
}

export interface AgentOptions {
  dataDir: string;
  /** Hears the process id at each start. */
  onStart: (pid: number) => void;
  /** Hears of each time that the agent died and is started again. */
  onDeath: (how: string) => void;
}

/** Starts `matrx up` and keeps it running. */
export async function startAgent({ dataDir, onStart, onDeath }: AgentOptions): Promise<Agent> {
  const log = agentLog(dataDir);
  const since = logEnd(log);
  const agent = new Supervisor(() => spawnAgent(dataDir), { onStart, onDeath, isFinal });
  await agent.begin();
  return {
    get pid() {
      return agent.child?.pid;
    },
    gaveUp: agent.gaveUp.then((end) => {
      if (isAsked(end))
        return "This machine's agent was asked to stop, and did. Stop and run npm start again to bring it back.";
      if (isRefused(end))
        return "This machine was removed from the account, so its agent ended. Stop and run npm start again to add it back.";
      return `This machine's agent ${end.how}. Its last messages:\n${lastLines(log, since)}`;
    }),
    stop: () => agent.stop(AGENT_GRACE),
  };
}

/** Of two agents of one device the newer stays: starting the older again would have them take turns. */
function isFinal(end: End): boolean {
  return isAsked(end) || isRefused(end) || end.code === faceOf("CONFLICT").exit;
}

/** It was told to stop: by the command `shutdown`, or by a signal. */
function isAsked({ code }: End): boolean {
  return code === 0;
}

/** The relay does not know the device, or not its key: trying again changes nothing. */
function isRefused({ code }: End): boolean {
  return code === faceOf("UNKNOWN_DEVICE").exit || code === faceOf("PERMISSION_DENIED").exit;
}

function spawnAgent(dataDir: string): Promise<Child> {
  return withLog(agentLog(dataDir), (fd) =>
    started(
      spawn(process.execPath, [MATRX_BIN, "up"], {
        cwd: homedir(),
        env: agentEnvironment(dataDir),
        detached: true,
        stdio: ["ignore", fd, fd],
      }),
    ),
  );
}

/** What the agent sees: the person's own environment, where its files are, and the relays' data, which it keeps closed. */
export function agentEnvironment(dataDir: string): NodeJS.ProcessEnv {
  const closed = [...new Set([dataDir, DEFAULT_DATA])].join(delimiter);
  return { ...userEnvironment(process.env), MATRX_HOME: agentFolder(dataDir), MATRX_PROTECTED: closed };
}

/** Finds a device in the account; undefined if it was removed. */
export async function findDevice(relay: Relay, token: string, id: string): Promise<DeviceView | undefined> {
  const { devices } = await request(relay, { token }, "GET /v1/devices", deviceListSchema);
  return devices.find((device) => device.id === id);
}

interface Awaited {
  token: string;
  id: string;
  stop: AbortSignal;
}

/** Waits until the device is online. Throws Problem with what the agent said last. */
export async function untilOnline(
  relay: Relay,
  agent: Agent,
  { token, id, stop }: Awaited,
): Promise<DeviceView> {
  let gaveUp: string | undefined;
  void agent.gaveUp.then((how) => {
    gaveUp = how;
  });
  for (const until = performance.now() + ONLINE_WITHIN; performance.now() < until; await sleep(100)) {
    stop.throwIfAborted();
    if (gaveUp) throw new Problem(gaveUp);
    const device = await findDevice(relay, token, id);
    if (device?.state === "ONLINE") return device;
  }
  const said = lastLines(agentLog(relay.dataDir), 0);
  throw new Problem(`This machine's agent can't reach the relay. Its last messages:\n${said}`);
}
