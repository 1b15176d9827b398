/** What all parts of one device share: its storage, its link, its leases and rates, and when it looks after itself. */
import { ResponseBodies } from "@matrx/shared/caller/response-bodies.ts";
import type { DeviceId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { unknownDeviceError } from "../refusals.ts";
import type { Secrets } from "../secrets.ts";
import { StorageHealth } from "../storage/health.ts";
import { migrate } from "../storage/migrate.ts";
import { DEVICE } from "../storage/migrations.ts";
import { type Storage, watched } from "../storage/watched.ts";
import { Ledger } from "./calls/ledger.ts";
import { DeviceLink } from "./connection.ts";
import { Events } from "./event-log.ts";
import { type Accounts, Leases } from "./leases.ts";
import { SignOfLife } from "./link/sign-of-life.ts";
import { Rates } from "./rates.ts";
import { type DeviceRecord, RecordStore } from "./store.ts";
import { Timer } from "./timer.ts";

/** What a device needs of its surroundings. */
export interface DeviceEnv extends Secrets {
  ACCOUNT: Accounts;
  DEVICE: { getByName(name: string): { probeStorage(): Promise<void> } };
}

/** An object of this class without a device, and so without sockets: it may fail. */
const PROBE = "storage probe";

export class DeviceContext {
  readonly state: DurableObjectState;
  readonly env: DeviceEnv;
  readonly health: StorageHealth;
  readonly storage: Storage;
  readonly store: RecordStore;
  readonly ledger: Ledger;
  readonly events: Events;
  readonly link: DeviceLink;
  readonly signs: SignOfLife;
  readonly leases: Leases;
  readonly bodies = new ResponseBodies();
  readonly timer: Timer;
  rates = new Rates();

  /** `look`: the object looks after its calls. */
  constructor(state: DurableObjectState, env: DeviceEnv, look: () => void) {
    this.state = state;
    this.env = env;
    this.health = new StorageHealth({
      id: state.id.toString(),
      sync: () => state.storage.sync(),
      probe: () => env.DEVICE.getByName(PROBE).probeStorage(),
    });
    this.storage = watched(state.storage, () => this.health.wrote());
    this.store = new RecordStore(this.storage.kv, this.health);
    // An unknown device stores nothing.
    if (this.store.record) migrate(state.storage, DEVICE);
    this.ledger = new Ledger(this.storage.sql, this.health);
    this.events = new Events(this.storage, this.health);
    this.link = new DeviceLink((ws) => state.getWebSocketAutoResponseTimestamp(ws));
    this.signs = new SignOfLife(this.link);
    this.leases = new Leases(env.ACCOUNT);
    this.timer = new Timer(look);
  }

  /** The device that this object is for, also before it has a record. */
  get name(): DeviceId {
    return (this.state.id.name ?? "") as DeviceId;
  }

  /** Throws MatrxError `UNKNOWN_DEVICE`. */
  get record(): DeviceRecord {
    const { record } = this.store;
    if (!record) throw unknownDeviceError(this.name);
    return record;
  }

  /** Throws MatrxError `UNKNOWN_DEVICE`. */
  get device(): DeviceId {
    return this.record.id;
  }

  /** Calls under way are looked at soon; those that take long, by alarm, so that the object can sleep. */
  callStarted(now: number): void {
    this.timer.by(now + TIMES.settleAfter);
  }
}
