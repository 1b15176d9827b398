/** This machine as a device of a test relay: paired and connected as `npm start` does it. */
import { type Agent, startAgent, untilOnline } from "../../scripts/start/agent.ts";
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
