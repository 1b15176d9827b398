/** The activity feed: while a person's screen watches, it is sent every call on the account's devices as it happens. */
import type { ActivityEntry } from "@matrx/shared/activity.ts";
import type { DeviceId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { logWarning } from "../log.ts";
import type { AccountContext } from "./context.ts";

/** Devices that are asked at the same time. */
const ASKED_AT_ONCE = 16;

export class Watching {
  readonly #context: AccountContext;

  constructor(context: AccountContext) {
    this.#context = context;
  }

  /** A screen watches from now on: each device tells what runs there, and from then on what begins and ends. */
  async watch(screen: WebSocket, now: number): Promise<void> {
    const { people, devices } = this.#context;
    const until = now + TIMES.watched;
    if (!people.watch(screen, until)) return;
    const ids = devices.list().map(({ id }) => id);
    const askNext = async (): Promise<void> => {
      for (let id = ids.shift(); id !== undefined; id = ids.shift()) await this.#ask(id, screen, until);
    };
    await Promise.all(Array.from({ length: ASKED_AT_ONCE }, askNext));
  }

  /** What a device tells. */
  note(device: DeviceId, entries: ActivityEntry[], now: number): void {
    const { people, devices } = this.#context;
    // One that was removed meanwhile.
    if (devices.has(device)) people.tellWatchers(entries, now);
  }

  async #ask(device: DeviceId, screen: WebSocket, until: number): Promise<void> {
    const { people, env } = this.#context;
    const calls = await env.DEVICE.getByName(device)
      .watch(until)
      .catch((error: unknown) => logWarning(`device ${device} cannot be watched`, error));
    people.tellOne(screen, { type: "running", device, calls: calls ?? null });
  }
}
