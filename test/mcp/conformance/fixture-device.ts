/** A device of a real relay that has the suite's tools: our own agent, as a process of its own. */
import { join } from "node:path";
import { ensurePaired } from "../../../scripts/start/pairing.ts";
import { startAgent } from "../../e2e/agent.ts";
import type { TestRelay } from "../../helpers/relay.ts";

const PROGRAM = join(import.meta.dirname, "device/agent.ts");

export interface FixtureDevice {
  readonly id: string;
  /** Stop it before the relay. */
  stop(): Promise<void>;
}

/** Pairs it and waits until it is connected. */
export async function startFixtureDevice(relay: TestRelay): Promise<FixtureDevice> {
  const forever = new AbortController().signal;
  const { device_id: id } = await ensurePaired(relay, await relay.token(), forever, () => undefined);
  const agent = await startAgent(relay.dataDir, {}, [PROGRAM]);
  await agent.registered();
  return { id, stop: () => agent.child.stop(5000) };
}
