/** The devices of a fleet: their keys, and the process that they live in. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeIdentity } from "../../agent/config/identity.ts";
import { makeDeviceId } from "../../shared/ids.ts";
import type { Processes, Program } from "../processes.ts";

export interface FleetDevice {
  id: string;
  /** `x` of the public JWK. */
  publicKey: string;
  /** PKCS #8, PEM. */
  privateKey: string;
}

/** What the process is started with. */
export interface FleetSettings extends Record<string, string> {
  /** Address of the relay, `http://host:port`. */
  relay: string;
  /** JSON file of the devices. */
  devices: string;
}

/** What the process tells. */
export interface FleetState {
  /** Of those that are connected: when each was registered last, in milliseconds since 1970. */
  registeredAt: number[];
  /** Connections dialled, ever. */
  tries: number;
}

export function makeDevices(count: number): FleetDevice[] {
  return Array.from({ length: count }, (_, index) => {
    const { publicKey, privateKey } = makeIdentity();
    const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    return { id: makeDeviceId(`bench-${index}`), publicKey, privateKey: pem };
  });
}

export class Fleet {
  readonly pid: number;
  readonly #url: string;

  private constructor({ pid, port }: Program) {
    this.pid = pid;
    this.#url = `http://127.0.0.1:${port}`;
  }

  static async start(processes: Processes, relay: string, devices: readonly FleetDevice[]): Promise<Fleet> {
    const file = join(processes.folder, "fleet.json");
    writeFileSync(file, JSON.stringify(devices), { mode: 0o600 });
    const settings: FleetSettings = { relay, devices: file };
    return new Fleet(await processes.start("fleet", settings));
  }

  /** Connects devices until there are so many; resolves when all are registered. */
  async grow(to: number): Promise<void> {
    await fetch(`${this.#url}/grow?to=${to}`);
    await this.until(({ registeredAt }) => registeredAt.length >= to);
  }

  async state(): Promise<FleetState> {
    return (await (await fetch(this.#url)).json()) as FleetState;
  }

  /** Waits until the fleet's state fits. Throws when a process of the run has ended by itself. */
  async until(fits: (state: FleetState) => boolean): Promise<FleetState> {
    for (;;) {
      const state = await this.state();
      if (fits(state)) return state;
      if (process.exitCode) throw new Error("what the devices are connected to is gone");
      await sleep(100);
    }
  }
}
