/** This machine as a device of a test relay: paired and connected as `npm start` does it, or by a code that a person confirms. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import * as z from "zod";
import { MATRX_BIN } from "../../scripts/matrx-bin.ts";
import { type Agent, agentEnvironment, startAgent, untilOnline } from "../../scripts/start/agent.ts";
import { ensurePaired } from "../../scripts/start/pairing.ts";
import type { TestRelay } from "./relay.ts";

export interface Machine {
  id: string;
  name: string;
  agent: Agent;
}

const silent = () => undefined;

/** Pairs it and waits until it is online. Stop its agent before the relay. `dataDir`: another folder makes it another device. */
export async function connectMachine(relay: TestRelay, dataDir = relay.dataDir): Promise<Machine> {
  const stop = new AbortController().signal;
  const token = await relay.token();
  const { device_id: id } = await ensurePaired({ ...relay, dataDir }, token, stop, silent);
  const agent = await startAgent({ dataDir, onStart: silent, onDeath: silent });
  const { name, state } = await untilOnline(relay, agent, { token, id, stop });
  if (state !== "ONLINE")
    throw new Error(`The agent does not get through. It said last:\n${agent.lastLines()}`);
  return { id, name, agent };
}

/** A machine whose code waits for a person. */
export interface Asking {
  readonly code: string;
  /** Once the code is confirmed: starts the agent. */
  connect(): Promise<Agent>;
}

/** Lets the agent of a folder of its own ask to be paired. */
export async function askToPair({ url }: TestRelay, dataDir: string, name: string): Promise<Asking> {
  const pairing = execFile(
    process.execPath,
    [MATRX_BIN, "pair", "--relay", url, "--name", name, "--yes", "--json"],
    { env: agentEnvironment(dataDir) },
  );
  const ended = once(pairing, "close");
  if (!pairing.stdout) throw new Error("The pairing has no output");
  const { value } = await createInterface({ input: pairing.stdout })[Symbol.asyncIterator]().next();
  const { code } = z.object({ code: z.string() }).parse(JSON.parse(String(value)));
  return {
    code,
    async connect() {
      await ended;
      return startAgent({ dataDir, onStart: silent, onDeath: silent });
    },
  };
}
