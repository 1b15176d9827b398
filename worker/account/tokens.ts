/** An account's grants as a person manages them: each change makes a version, which all devices that hold the grant are told. */
import { credentialOf, type Grant, type GrantClient, type GrantKind } from "@matrx/shared/grant.ts";
import { type AccountId, type GrantId, makeGrantId } from "@matrx/shared/ids.ts";
import type { Excepted } from "@matrx/shared/policy.ts";
import type { NewShare } from "@matrx/shared/share-api.ts";
import type { ChangedToken, NewToken, TokenDetails, TokenView } from "@matrx/shared/token-api.ts";
import type { LeasedGrant } from "../device/leases.ts";
import { noSuchTokenError, tooManyError, unknownDeviceError } from "../refusals.ts";
import type { DeviceEntry, Devices } from "./devices.ts";
import { type Grants, isFor, type May, scopeOf } from "./grants.ts";
import type { Holders } from "./holders.ts";
import { tokenView } from "./views.ts";
import { changedGrant, mayOf, mayOfGuest, withException } from "./wish.ts";

const TOKENS_MAX = 1000;

interface Tables {
  readonly grants: Grants;
  readonly devices: Devices;
  readonly holders: Holders;
}

interface LinkWish {
  readonly device: string;
  readonly path: string;
  /** Of its secret. */
  readonly hash: string;
  readonly name: string;
  readonly seconds: number;
}

interface VisitWish {
  readonly device: string;
  readonly port: number;
  /** What is kept of its secret. */
  readonly token: string;
  readonly name: string;
  readonly seconds: number;
}

const LINK_TOOLS = ["FileInfo", "Download"] as const;

/** What a device is told of a grant: that it may use this one, or that it may no longer use any up to this version. */
export type GrantNews = { leased: LeasedGrant } | { withdrawn: number };

export class Tokens {
  readonly #account: AccountId;
  readonly #grants: Grants;
  readonly #devices: Devices;
  readonly #holders: Holders;

  constructor(account: AccountId, { grants, devices, holders }: Tables) {
    this.#account = account;
    this.#grants = grants;
    this.#devices = devices;
    this.#holders = holders;
  }

  /** Makes a token's grant. Throws MatrxError. */
  create(wish: NewToken, now: number): Grant {
    this.#requireDevices(wish.devices);
    return this.add("api", wish.name, wish.days * 24 * 60 * 60, mayOf(wish), now);
  }

  /** Makes the grant of a client that was let in by OAuth. Throws MatrxError. */
  connect(wish: NewToken, client: GrantClient, now: number): Grant {
    this.#requireDevices(wish.devices);
    return this.add("mcp", wish.name, wish.days * 24 * 60 * 60, { ...mayOf(wish), client }, now);
  }

  /** Makes the grant of a share. Throws MatrxError. */
  share(wish: NewShare, now: number): Grant {
    this.#requireDevices(wish.devices);
    return this.add("share", wish.name, wish.days * 24 * 60 * 60, mayOfGuest(wish), now);
  }

  /** Makes the grant of a link to a file. Throws MatrxError. */
  link({ device, path, hash, name, seconds }: LinkWish, now: number): Grant {
    const limits = { devices: [device], tools: [...LINK_TOOLS], paths: [path] };
    return this.add("link", name, seconds, { owner: false, effects: ["read"], ...limits, token: hash }, now);
  }

  /** Makes the grant of a visit to a port. Throws MatrxError. */
  visit({ device, port, token, name, seconds }: VisitWish, now: number): Grant {
    const limits = { devices: [device], tools: ["FetchPort"], ports: [port] };
    return this.add("link", name, seconds, { owner: false, effects: ["execute"], ...limits, token }, now);
  }

  /** Makes a grant that lives for so many seconds. Throws MatrxError `RATE_LIMITED`. */
  add(kind: GrantKind, name: string, seconds: number, may: May, now: number): Grant {
    if (this.#grants.list(now).length >= TOKENS_MAX) throw tooManyError("tokens", TOKENS_MAX);
    const grant: Grant = {
      ...may,
      id: makeGrantId(),
      account: this.#account,
      kind,
      name,
      created: now,
      expires: now + seconds * 1000,
      version: 1,
    };
    this.#grants.add(grant);
    return grant;
  }

  list(now: number): TokenView[] {
    const nameOf = this.#names();
    return this.#grants.list(now).map((grant) => tokenView(grant, nameOf));
  }

  view(grant: Grant): TokenView {
    return tokenView(grant, this.#names());
  }

  /** Throws MatrxError `NOT_FOUND`. */
  details(id: GrantId, now: number): TokenDetails {
    const grant = this.#require(id, now);
    const holders = this.#holders
      .of(id)
      .map(({ device, acknowledged }) => ({ device, acknowledged: acknowledged >= grant.version }));
    return {
      ...this.view(grant),
      devices_holding: holders.length,
      devices_acknowledged: holders.filter(({ acknowledged }) => acknowledged).length,
      holders,
    };
  }

  /** Returns the devices to tell. Throws MatrxError. */
  change(id: GrantId, change: ChangedToken, now: number): string[] {
    this.#requireDevices(change.devices ?? undefined);
    const grant = this.#require(id, now);
    return this.#save(grant, changedGrant(grant, change, now));
  }

  /** Excepts calls of a kind from the questions of a grant. Returns the devices to tell. Throws MatrxError. */
  except(id: GrantId, excepted: Excepted, now: number): string[] {
    const grant = this.#require(id, now);
    return this.#save(grant, withException(grant, excepted));
  }

  /** Sets a device's name and tags. Returns the grants that now are for other devices, with the devices to tell. */
  describeDevice(entry: DeviceEntry, now: number): { grant: GrantId; devices: string[] }[] {
    const before = this.#devices.find(entry.id)?.tags ?? [];
    this.#devices.update(entry);
    return this.#grants
      .list(now)
      .filter((grant) => isFor(grant, entry.id, before) !== isFor(grant, entry.id, entry.tags))
      .map((grant) => ({
        grant: grant.id,
        devices: this.#save(grant, { ...grant, version: grant.version + 1 }),
      }));
  }

  /** Revokes a grant of any kind. Returns the devices to tell. Throws MatrxError `NOT_FOUND`. */
  revoke(id: GrantId): string[] {
    if (!this.#grants.remove(id)) throw noSuchTokenError();
    return this.#holders.remove(id);
  }

  /** What a device is to be told of a grant now; undefined: it is gone. */
  newsFor(device: string, id: GrantId, now: number): GrantNews | undefined {
    const grant = this.#grants.find(id, now);
    if (!grant) return undefined;
    return this.isFor(grant, device) ? { leased: leased(grant) } : { withdrawn: grant.version };
  }

  /** The device has confirmed the news. */
  told(device: string, id: GrantId, news: GrantNews): void {
    if ("leased" in news) this.#holders.acknowledge(id, device, news.leased.version);
    else this.#holders.dropped(id, device, news.withdrawn);
  }

  /** Whether a grant is for a device of this account. */
  isFor(grant: Grant, device: string): boolean {
    const entry = this.#devices.find(device);
    return entry !== undefined && isFor(grant, device, entry.tags);
  }

  #save(before: Grant, grant: Grant): string[] {
    if (grant === before) return [];
    this.#grants.update(grant);
    return this.#holders.of(grant.id).map(({ device }) => device);
  }

  #require(id: GrantId, now: number): Grant {
    const grant = this.#grants.find(id, now);
    if (!grant) throw noSuchTokenError();
    return grant;
  }

  #requireDevices(devices: readonly string[] = []): void {
    for (const device of devices) if (!this.#devices.has(device)) throw unknownDeviceError(device);
  }

  #names(): (device: string) => string {
    const names = new Map<string, string>(this.#devices.list().map(({ id, name }) => [id, name]));
    return (device) => names.get(device) ?? device;
  }
}

export function leased(grant: Grant): LeasedGrant {
  const { name, version, expires } = grant;
  return { scope: scopeOf(grant), holder: { name, credential: credentialOf(grant) }, version, expires };
}
