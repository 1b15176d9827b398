/** The two that speak the caller link: a relay with a real agent behind it, and that agent's local server by itself. */
import { expect } from "vitest";
import { processesOf } from "../e2e/processes.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { connectMachine } from "../helpers/machine.ts";
import { startRelay } from "../helpers/relay.ts";
import { startLocalServer } from "./local-server.ts";

export interface SocketHost {
  readonly name: "relay" | "local server";
  /** The guide's base address. */
  readonly base: string;
  readonly token: string;
  stop(): Promise<void>;
}

/** So many messages and calls as the cases make at once. */
const WIDE = { rates: { messages_per_second: 10_000, calls_per_minute: 100_000 } };

export async function relayHost(): Promise<SocketHost> {
  const relay = await startRelay();
  const machine = await connectMachine(relay);
  const base = `${relay.url}/v1/devices/${machine.id}`;
  const { token: session } = await relay.signIn();
  const widened = await fetch(`${base}/policy`, {
    method: "PUT",
    headers: { Authorization: `Bearer ${session}`, "Content-Type": "application/json" },
    body: JSON.stringify(WIDE),
  });
  expect(widened.status).toBe(200);
  const stop = async () => {
    await machine.agent.stop();
    await relay.stop();
    expect(processesOf(relay.dataDir)).toEqual([]);
  };
  return { name: "relay", base, token: await relay.token(), stop };
}

export async function localHost(): Promise<SocketHost> {
  const folders = { home: makeFolder(), temporary: makeFolder() };
  const { url, token = "", child } = await startLocalServer(folders);
  const stop = async () => {
    await child.stop(5000);
    expect(processesOf(folders.home)).toEqual([]);
    removeFolder(folders.home);
    removeFolder(folders.temporary);
  };
  return { name: "local server", base: url, token, stop };
}
