/** What all parts of one device share: its storage, link, leases, rates and timer. */
import { ResponseBodies } from "@matrx/shared/caller/response-bodies.ts";
import type { DeviceId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { signHead } from "../auth/audit-head.ts";
import type { ListeningObjects } from "../mcp/listeners.ts";
import { unknownDeviceError } from "../refusals.ts";
import type { Secrets } from "../secrets.ts";
import { StorageHealth } from "../storage/health.ts";
import { migrate } from "../storage/migrate.ts";
import { DEVICE } from "../storage/migrations.ts";
import { type Storage, watched } from "../storage/watched.ts";
import { DeviceLink } from "./connection.ts";
import { Events } from "./event-log.ts";
import { type Accounts, Leases } from "./leases.ts";
import { ApprovalRows } from "./ledger/approval-rows.ts";
import { Ledger } from "./ledger/ledger.ts";
import { ActivityFeed } from "./observing/activity.ts";
import { AuditFeed, type Records } from "./observing/audit.ts";
import { Heads } from "./observing/heads.ts";
import { LongCalls } from "./observing/long-calls.ts";
import { Observer } from "./observing/observer.ts";
import { AccountPause } from "./pause.ts";
import { LastProof } from "./proof.ts";
import { Rates } from "./rates.ts";
import { SignOfLife } from "./sign-of-life.ts";
import { type DeviceRecord, RecordStore } from "./store.ts";
import { Streams } from "./streams/streams.ts";
import { Timer } from "./timer.ts";

/** The bindings and secrets that a device needs. */
export interface DeviceEnv extends Secrets {
  ACCOUNT: Accounts;
  AUDIT: Records;
  DEVICE: { getByName(name: string): { probeStorage(): Promise<void> } };
  MCP: ListeningObjects;
}

/** The name of an object without a device, and so without sockets: it may break. */
const PROBE = "storage probe";

export class DeviceContext {
  readonly state: DurableObjectState;
  readonly env: DeviceEnv;
  readonly health: StorageHealth;
  readonly storage: Storage;
  readonly store: RecordStore;
  readonly ledger: Ledger;
  readonly approvals: ApprovalRows;
  readonly events: Events;
  readonly link: DeviceLink;
  readonly signs: SignOfLife;
  readonly streams: Streams;
  readonly leases: Leases;
  readonly activity: ActivityFeed;
  readonly audit: AuditFeed;
  readonly heads: Heads;
  readonly observer: Observer;
  readonly pause: AccountPause;
  readonly bodies = new ResponseBodies();
  readonly timer: Timer;
  readonly proof = new LastProof();
  readonly rates: Rates;
  /** Called when the tools that callers see, or whether they work, may have changed. */
  onToolsChanged: () => void = () => undefined;

  /** `look` runs the object's upkeep; `auditBy` schedules `audit.ring`, in milliseconds since 1970. */
  constructor(
    state: DurableObjectState,
    env: DeviceEnv,
    { look, auditBy }: { look: () => void; auditBy: (at: number) => void },
  ) {
    this.state = state;
    this.env = env;
    this.health = new StorageHealth({
      id: state.id.toString(),
      sync: () => state.storage.sync(),
      probe: () => env.DEVICE.getByName(PROBE).probeStorage(),
    });
    this.storage = watched(state.storage, () => this.health.wrote());
    this.store = new RecordStore(this.storage.kv, this.health);
    // For an unknown device nothing is stored.
    if (this.store.record) migrate(state.storage, DEVICE);
    this.ledger = new Ledger(this.storage.sql, this.health);
    this.approvals = new ApprovalRows(this.storage.sql, this.health);
    this.events = new Events(this.storage, this.health);
    this.link = new DeviceLink((ws) => state.getWebSocketAutoResponseTimestamp(ws));
    this.signs = new SignOfLife(this.link);
    this.streams = new Streams({ link: this.link, store: this.store });
    this.rates = new Rates({
      attach: (states) => this.link.attach(states),
      store: (rates) => this.store.setRates(rates),
    });
    this.leases = new Leases(env.ACCOUNT);
    const { store, leases } = this;
    const { ledger, health, storage, link } = this;
    this.pause = new AccountPause(storage.kv, health);
    this.activity = new ActivityFeed({ store, accounts: env.ACCOUNT, kv: storage.kv, health });
    const { activity } = this;
    this.heads = new Heads({
      sign: (head) => signHead(env, head),
      head: () => env.AUDIT.getByName(this.record.account).head(),
      isWanted: () => link.current?.attachment.keepsHeads === true,
      send: (frame) => void link.send(frame),
    });
    const longCalls = new LongCalls({ store, accounts: env.ACCOUNT });
    this.audit = new AuditFeed({
      ...{ store, ledger, storage, health, records: env.AUDIT, sendBy: auditBy },
      onTold: (drafts) => longCalls.note(drafts),
      onHead: (head) => this.heads.grew(head, Date.now()),
    });
    const { audit } = this;
    this.timer = new Timer(look);
    this.observer = new Observer({
      ...{ activity, audit, leases },
      device: () => store.record?.id ?? "",
      lookBy: (at) => this.timer.by(at),
    });
  }

  /** The id of this object's device, even before it has a record. */
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

  /** Schedules a check of calls in flight: soon by timer; long calls are checked by alarm, so that the object can hibernate. */
  callStarted(now: number): void {
    this.audit.mark(now);
    this.timer.by(now + TIMES.settleAfter);
  }
}
