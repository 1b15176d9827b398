/** A person's home: a paired device whose agent is connected, and a caller with a full token. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { Device } from "../../../worker/device/device.ts";
import { TestCaller } from "./caller.ts";
import { AgentDevice, type AgentIdentity, pairAgent } from "./device.ts";
import { Person } from "./relay.ts";

export interface Home {
  person: Person;
  identity: AgentIdentity;
  device: AgentDevice;
  token: string;
  caller: TestCaller;
}

export async function home(): Promise<Home> {
  const person = await Person.signIn();
  const identity = await pairAgent(person);
  const device = await AgentDevice.come(identity);
  const { token } = await person.token({ access: "full" });
  return { person, identity, device, token, caller: await TestCaller.connect(identity.id, token) };
}

export function object(id: string): DurableObjectStub<Device> {
  return env.DEVICE.getByName(id);
}

/** Runs the object's own look after its calls as if it were later. */
export async function sweepAt(id: string, now: number): Promise<void> {
  await runInDurableObject(object(id), (instance) => instance.tick(now));
}

/** A storage that takes writes. */
export const HEALTHY = { isFailing: false, requireWritable: () => undefined };
