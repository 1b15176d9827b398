/** The account's pause, durable: one button ends all that AI grants do, and they may do nothing until somebody resumes. */
import type { PauseView } from "@matrx/shared/pause-api.ts";
import type { PauseNews, PauseState } from "../device/pause.ts";
import type { Devices } from "./devices.ts";
import type { Grants } from "./grants.ts";
import type { Holders } from "./holders.ts";

/** As stored. */
interface Kept extends PauseState {
  readonly stopped: number;
  /** The session that changed it, by its name. */
  readonly by: string | null;
}

const NEVER: Kept = { paused: false, at: 0, stopped: 0, by: null };
const KEY = "pause";

interface Tables {
  readonly kv: SyncKvStorage;
  readonly grants: Grants;
  readonly devices: Devices;
  readonly holders: Holders;
}

export class Pause {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** What devices are told with each lease. */
  get state(): PauseState {
    const { paused, at } = this.#kept;
    return { paused, at };
  }

  /** What a device is told until it confirms. */
  newsFor(device: string, now: number): PauseNews {
    const { paused, at, stopped } = this.#kept;
    const { grants, holders } = this.#tables;
    const isOwners = (id: Parameters<Grants["find"]>[0]) => grants.find(id, now)?.owner === true;
    return { paused, at, stopped, grants: holders.heldBy(device).filter((id) => !isOwners(id)) };
  }

  /** Returns whether there is something to tell: a second stop stops once more, a second resume does nothing. */
  set(paused: boolean, by: string, now: number): boolean {
    const { paused: was, at: before, stopped } = this.#kept;
    if (!paused && !was) return false;
    // Later than any that a device has seen, even if the clock was set back.
    const at = Math.max(now, before + 1);
    this.#tables.kv.put<Kept>(KEY, { paused, at, stopped: paused ? at : stopped, by });
    return true;
  }

  /** `untold` devices have not confirmed it yet. */
  view(untold: readonly string[]): PauseView {
    const { paused, at, by } = this.#kept;
    const devices = this.#tables.devices.count();
    return {
      paused,
      changed: at === 0 ? null : new Date(at).toISOString(),
      changed_by: by,
      devices,
      devices_told: devices - untold.length,
    };
  }

  get #kept(): Kept {
    return this.#tables.kv.get<Kept>(KEY) ?? NEVER;
  }
}
