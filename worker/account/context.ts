/** What all parts of an Account object share: its tables, its devices' news, and who may act. */

import type { SignInWay } from "@matrx/shared/audit.ts";
import { MatrxError, relayError } from "@matrx/shared/errors.ts";
import { type Grant, isPersonSession, type SessionKind } from "@matrx/shared/grant.ts";
import type { AccountId, GrantId } from "@matrx/shared/ids.ts";
import type { PauseView } from "@matrx/shared/pause-api.ts";
import { type Rate, TokenBucket } from "@matrx/shared/rate-limit.ts";
import { retryIn } from "@matrx/shared/retry.ts";
import { unauthenticated } from "../auth/keys.ts";
import type { CloudEnv } from "../cloud/open-store.ts";
import type { Device } from "../device/device.ts";
import { type ListeningObjects, ToolListeners } from "../mcp/listeners.ts";
import type { Audit } from "../objects/audit.ts";
import { type Directory, directoryOf } from "../objects/directory.ts";
import type { OAuthStore } from "../objects/oauth-store.ts";
import { PushMessages } from "../push/messages.ts";
import { PushNews } from "../push/news.ts";
import { PushSubscriptions } from "../push/subscriptions.ts";
import { Vapid } from "../push/vapid.ts";
import type { Secrets } from "../secrets.ts";
import { AlarmTable } from "../storage/alarms.ts";
import { AccountApprovals } from "./approvals.ts";
import { dropCloudFiles } from "./cloud-file-rows.ts";
import { DeviceNews } from "./device-news.ts";
import { Devices } from "./devices.ts";
import { type EndedGrant, EndedGrants, type GrantObjects } from "./ended-grants.ts";
import { Grants } from "./grants.ts";
import { Holders } from "./holders.ts";
import { OneTimeCodes } from "./one-time-codes.ts";
import { Pause } from "./pause.ts";
import { PersonSockets } from "./person-sockets.ts";
import { Profile } from "./profile.ts";
import { AccountRecord, grantHappening } from "./record.ts";
import { Tokens } from "./tokens.ts";

/** The objects that an account talks to, and the relay's secrets. */
export interface AccountEnv extends Secrets, CloudEnv {
  DEVICE: DurableObjectNamespace<Device>;
  AUDIT: DurableObjectNamespace<Audit>;
  DIRECTORY: DurableObjectNamespace<Directory>;
  OAUTH_STORE: DurableObjectNamespace<OAuthStore>;
  MCP: ListeningObjects & GrantObjects;
}

/** What a person's new session is called, and the thumbprint of the key that a browser's is bound to. */
export interface NewSession {
  name: string;
  key?: string;
}

/** Tokens and sign-in links that an account may make: 60 at once, then one each second. */
const CREDENTIALS: Rate = { burst: 60, everyMs: 1000 };
const OWNER: Pick<Grant, "owner" | "effects"> = { owner: true, effects: ["read", "write", "execute"] };

export class AccountContext {
  readonly id: AccountId;
  readonly sql: SqlStorage;
  readonly env: AccountEnv;
  readonly profile: Profile;
  readonly grants: Grants;
  readonly devices: Devices;
  readonly holders: Holders;
  readonly tokens: Tokens;
  readonly codes: OneTimeCodes;
  readonly approvals: AccountApprovals;
  readonly pause: Pause;
  readonly people: PersonSockets;
  readonly listeners: ToolListeners;
  readonly news: DeviceNews;
  readonly record: AccountRecord;
  readonly vapid: Vapid;
  readonly subscriptions: PushSubscriptions;
  readonly push: PushNews;
  readonly alarms: AlarmTable<"outbox" | "expiry" | "audit" | "cloud" | "push">;
  readonly #ended: EndedGrants;
  /** Tokens and sign-in links made of late. The object sleeps only after longer than this takes to refill. */
  readonly #made = new TokenBucket(CREDENTIALS, Date.now());

  constructor(state: DurableObjectState, env: AccountEnv) {
    const { sql } = state.storage;
    this.id = (state.id.name ?? "") as AccountId;
    this.sql = sql;
    this.env = env;
    this.profile = new Profile(sql);
    this.grants = new Grants(sql, this.id);
    this.devices = new Devices(sql);
    this.holders = new Holders(sql);
    const { grants, devices, holders } = this;
    this.tokens = new Tokens(this.id, { grants, devices, holders });
    this.codes = new OneTimeCodes(state.storage);
    this.approvals = new AccountApprovals(sql);
    this.pause = new Pause({ kv: state.storage.kv, grants, devices, holders });
    this.people = new PersonSockets(state, env);
    this.listeners = new ToolListeners(state.storage.kv, env.MCP);
    this.news = new DeviceNews({
      sql,
      tokens: this.tokens,
      isOwn: (device) => devices.has(device),
      pauseFor: (device) => this.pause.newsFor(device, Date.now()),
      device: (id) => env.DEVICE.getByName(id),
      destroyed: (id) => directoryOf(env.DIRECTORY, id).remove(id),
      againBy: (at) => this.alarms.by("outbox", at),
    });
    this.record = new AccountRecord({
      sql,
      append: (drafts) => env.AUDIT.getByName(this.id).append(drafts),
      againBy: (at) => this.alarms.by("audit", at),
    });
    this.vapid = new Vapid(state.storage.kv);
    this.subscriptions = new PushSubscriptions(sql);
    const { subscriptions, vapid, people, news } = this;
    const objects = { mcp: env.MCP, oauth: env.OAUTH_STORE };
    this.#ended = new EndedGrants({ account: this.id, people, subscriptions, news, ...objects });
    const sendBy = (at: number) => this.alarms.by("push", at);
    const messages = new PushMessages({ sql, subscriptions, vapid, sendBy });
    this.push = new PushNews({
      ...{ kv: state.storage.kv, subscriptions, messages },
      nameOf: (device) => devices.find(device)?.name ?? device,
    });
    this.alarms = new AlarmTable(state.storage, {
      audit: async () => {
        await this.record.ring();
        return undefined;
      },
      outbox: (now) => this.news.ring(now),
      expiry: async (now) => {
        const next = this.prune(now);
        await this.news.flush(now);
        return next;
      },
      cloud: (now) => dropCloudFiles(this, now),
      push: (now) => messages.ring(now),
    });
  }

  /** A grant that is neither revoked nor expired. Throws MatrxError `UNAUTHENTICATED`. */
  grant(id: GrantId): Grant {
    const grant = this.grants.find(id, Date.now());
    if (!grant) throw new MatrxError(unauthenticated("The token was revoked or has expired"));
    return grant;
  }

  /** The grant of somebody who signed in. Throws MatrxError `UNAUTHENTICATED` or `PERMISSION_DENIED`. */
  person(id: GrantId): Grant {
    const grant = this.grant(id);
    if (isPersonSession(grant)) return grant;
    throw relayError("PERMISSION_DENIED", "Only a signed-in person may do this, not a token", {
      hint: "Sign in on the relay's page or with `matrx login`",
    });
  }

  /** Makes a person's session; the record says `how`. Throws MatrxError `PERMISSION_DENIED` if the account was closed. */
  signIn(kind: SessionKind, { name, key, how }: NewSession & { how: SignInWay }, seconds: number): Grant {
    this.profile.requireOpen();
    const now = Date.now();
    this.prune(now);
    const grant = this.tokens.add(kind, name, seconds, { ...OWNER, ...(key && { key }) }, now);
    this.alarms.by("expiry", grant.expires);
    this.record.note(grantHappening(grant, "created", how), grant);
    return grant;
  }

  /** Counts a credential or link that a person makes. Throws MatrxError `RATE_LIMITED`. */
  countCredential(): void {
    const now = Date.now();
    if (this.#made.take(now)) return;
    throw relayError(
      "RATE_LIMITED",
      "Too many credentials are made at once",
      retryIn(this.#made.readyIn(now)),
    );
  }

  /** Ends a grant of any kind, with all that is open of it. `by` is who did it. Throws MatrxError `NOT_FOUND`. */
  revoke(id: GrantId, by?: Grant): Promise<void> {
    return this.revokeAll([id], by);
  }

  /** Ends them all before the first device is told. Throws MatrxError `NOT_FOUND`. */
  async revokeAll(ids: readonly GrantId[], by?: Grant): Promise<void> {
    const ended: EndedGrant[] = [];
    for (const id of ids) {
      const grant = this.grants.find(id, Date.now());
      const holders = this.tokens.revoke(id);
      if (grant) this.record.note(grantHappening(grant, "revoked"), by);
      ended.push({ id, kind: grant?.kind ?? "api", holders });
    }
    await this.#ended.end(ended);
  }

  /** Tells devices something, again and again until each has acknowledged it. */
  async tell(devices: readonly string[], news: Parameters<DeviceNews["add"]>[1]): Promise<void> {
    if (devices.length === 0) return;
    this.news.add(devices, news, Date.now());
    await this.news.flush(Date.now());
  }

  /** The account's pause, and how many devices have confirmed it. */
  pauseView(): PauseView {
    const untold = this.news.waiting({ type: "pause" }).filter((device) => this.devices.has(device));
    return this.pause.view(untold);
  }

  /** Deletes what has expired; returns when the next grant expires. Devices end what runs under the grants of others. */
  prune(now: number): number | undefined {
    for (const grant of this.grants.prune(now))
      this.news.add(this.holders.remove(grant), { type: "revoke", grant }, now);
    this.subscriptions.prune();
    this.holders.prune();
    this.codes.prune(now);
    this.approvals.prune(now);
    const nexts = [this.grants.nextExpiry(), this.approvals.nextPrune()].filter((at) => at !== undefined);
    return nexts.length > 0 ? Math.min(...nexts) : undefined;
  }
}
