/** One user's devices, grants and tokens. Written on change only. */
import { DurableObject } from "cloudflare:workers";
import { MatrxError, relayError } from "@matrx/shared/errors.ts";
import { type Grant, type GrantKind, isPersonSession } from "@matrx/shared/grant.ts";
import { type AccountId, type DeviceId, type GrantId, makeDeviceId } from "@matrx/shared/ids.ts";
import { type Rate, TokenBucket } from "@matrx/shared/rate-limit.ts";
import { retryIn } from "@matrx/shared/retry.ts";
import type { ChangedToken, NewToken, TokenDetails, TokenView } from "@matrx/shared/token-api.ts";
import { LIFETIME } from "@matrx/shared/tokens.ts";
import { DeviceNews } from "../account/device-news.ts";
import { type DeviceEntry, Devices } from "../account/devices.ts";
import { Grants, isFor } from "../account/grants.ts";
import { Holders } from "../account/holders.ts";
import { OneTimeCodes } from "../account/one-time-codes.ts";
import { leased, Tokens } from "../account/tokens.ts";
import { warningOf } from "../account/views.ts";
import { unauthenticated } from "../auth/keys.ts";
import type { LeasedGrant } from "../device/leases.ts";
import type { DeviceIdentity } from "../device/store.ts";
import { attempt, type Outcome } from "../outcome.ts";
import { tooManyError, unknownDeviceError } from "../refusals.ts";
import { AlarmTable } from "../storage/alarms.ts";
import { migrate } from "../storage/migrate.ts";
import { ACCOUNT } from "../storage/migrations.ts";
import type { Device } from "./device.ts";
import { type Directory, directoryOf } from "./directory.ts";

/** The objects that an account talks to. */
interface AccountEnv {
  DEVICE: DurableObjectNamespace<Device>;
  DIRECTORY: DurableObjectNamespace<Directory>;
}

const DEVICES_MAX = 1000;
/** Tokens and sign-in links that an account may make: 60 at once, then one each second. */
const CREDENTIALS: Rate = { burst: 60, everyMs: 1000 };
const OWNER: Pick<Grant, "owner" | "effects"> = { owner: true, effects: ["read", "write", "execute"] };

export class Account extends DurableObject<AccountEnv> {
  readonly #id: AccountId;
  readonly #grants: Grants;
  readonly #devices: Devices;
  readonly #holders: Holders;
  readonly #tokens: Tokens;
  readonly #codes: OneTimeCodes;
  readonly #news: DeviceNews;
  readonly #alarms: AlarmTable<"outbox" | "expiry">;
  /** Tokens and sign-in links made of late. The object sleeps only after longer than this takes to refill. */
  readonly #made = new TokenBucket(CREDENTIALS, Date.now());

  constructor(state: DurableObjectState, env: AccountEnv) {
    super(state, env);
    migrate(state.storage, ACCOUNT);
    const { sql } = state.storage;
    this.#id = (state.id.name ?? "") as AccountId;
    this.#grants = new Grants(sql, this.#id);
    this.#devices = new Devices(sql);
    this.#holders = new Holders(sql);
    this.#tokens = new Tokens(this.#id, {
      grants: this.#grants,
      devices: this.#devices,
      holders: this.#holders,
    });
    this.#codes = new OneTimeCodes(sql);
    this.#news = new DeviceNews({
      sql,
      tokens: this.#tokens,
      isOwn: (device) => this.#devices.has(device),
      device: (id) => env.DEVICE.getByName(id),
      destroyed: (id) => directoryOf(env.DIRECTORY, id).remove(id),
      againBy: (at) => this.#alarms.by("outbox", at),
    });
    this.#alarms = new AlarmTable(state.storage, {
      outbox: (now) => this.#news.ring(now),
      expiry: (now) => this.#prune(now),
    });
  }

  /** Signs a person in with a sign-in link's code, once. */
  claim(code: { id: string; expires: number }, name: string): Promise<Outcome<Grant>> {
    return attempt(() => {
      if (!this.#codes.use(code.id, code.expires)) {
        throw new MatrxError(
          unauthenticated("This sign-in link has already been used", "Make a new one with `npm run link`"),
        );
      }
      return this.#signIn("web", name, LIFETIME.web);
    });
  }

  /** The grant that a token names. */
  describe(grant: GrantId): Promise<Outcome<Grant>> {
    return attempt(() => this.#grant(grant));
  }

  /** Leases the grant that a caller presented to a Device object. */
  lease(grant: GrantId, device: DeviceId): Promise<Outcome<LeasedGrant>> {
    return attempt(() => {
      const found = this.#grant(grant);
      if (!this.#devices.has(device)) throw unknownDeviceError(device);
      if (!this.#tokens.isFor(found, device)) throw notForDevice(device);
      this.#holders.leased(grant, device, found.version);
      return leased(found);
    });
  }

  /** Whether the device belongs to this account. */
  hasDevice(device: DeviceId): boolean {
    return this.#devices.has(device);
  }

  /** When a person removed the device, in milliseconds since 1970; undefined if nobody did. */
  removedAt(grant: GrantId, device: string): Promise<Outcome<number | undefined>> {
    return attempt(() => {
      this.#grant(grant);
      return this.#devices.removedAt(device);
    });
  }

  /** The devices that a grant may see. */
  listDevices(grant: GrantId): Promise<Outcome<DeviceEntry[]>> {
    return attempt(() => {
      const found = this.#grant(grant);
      return this.#devices.list().filter(({ id, tags }) => isFor(found, id, tags));
    });
  }

  /** Adds a device to this account; `identity` is how it proves itself. */
  addDevice(grant: GrantId, name: string, identity: DeviceIdentity): Promise<Outcome<DeviceEntry>> {
    return attempt(async () => {
      this.#person(grant);
      if (this.#devices.count() >= DEVICES_MAX) throw tooManyError("devices", DEVICES_MAX);
      const entry = { id: await this.#newDeviceId(name), name, created: Date.now(), tags: [] };
      await this.env.DEVICE.getByName(entry.id).initialize({ ...entry, account: this.#id, identity });
      this.#devices.add(entry);
      return entry;
    });
  }

  /** Sets a device's name, tags, or both; grants for a tag follow it at once. */
  describeDevice(
    grant: GrantId,
    device: DeviceId,
    { name, tags }: { name?: string | undefined; tags?: string[] | undefined },
  ): Promise<Outcome<void>> {
    return attempt(async () => {
      this.#person(grant);
      const entry = this.#devices.find(device);
      if (!entry) throw unknownDeviceError(device);
      const next = { ...entry, name: name ?? entry.name, tags: tags ?? entry.tags };
      const changed = this.#tokens.describeDevice(next, Date.now());
      for (const { grant, devices } of changed)
        this.#news.add(devices, { type: "change", grant }, Date.now());
      await this.#news.flush(Date.now());
      await this.env.DEVICE.getByName(device).describe(next.name, next.tags);
    });
  }

  /** Removes a device. Its object wipes its data, later if it cannot be reached right now. */
  removeDevice(grant: GrantId, device: DeviceId): Promise<Outcome<void>> {
    return attempt(async () => {
      this.#person(grant);
      if (!this.#devices.remove(device, Date.now())) throw unknownDeviceError(device);
      this.#holders.forgetDevice(device);
      await this.#send([device], { type: "forget" });
    });
  }

  /** Makes a token's grant; `view` is what the person is shown. */
  createToken(
    grant: GrantId,
    wish: NewToken,
  ): Promise<Outcome<{ grant: Grant; view: TokenView; warning: string | undefined }>> {
    return attempt(() => {
      this.#person(grant);
      this.#countCredential();
      const now = Date.now();
      this.#prune(now);
      const made = this.#tokens.create(wish, now);
      this.#alarms.by("expiry", made.expires);
      return { grant: made, view: this.#tokens.view(made), warning: warningOf(made) };
    });
  }

  listTokens(grant: GrantId): Promise<Outcome<TokenView[]>> {
    return attempt(() => {
      this.#person(grant);
      return this.#tokens.list(Date.now());
    });
  }

  readToken(grant: GrantId, token: GrantId): Promise<Outcome<TokenDetails>> {
    return attempt(() => {
      this.#person(grant);
      return this.#tokens.details(token, Date.now());
    });
  }

  /** Narrows or widens a token's grant; the devices that hold it are told until each has confirmed. */
  changeToken(grant: GrantId, token: GrantId, change: ChangedToken): Promise<Outcome<TokenDetails>> {
    return attempt(async () => {
      this.#person(grant);
      const devices = this.#tokens.change(token, change, Date.now());
      await this.#send(devices, { type: "change", grant: token });
      return this.#tokens.details(token, Date.now());
    });
  }

  /** "Always": from now on a tool is excepted from the questions of a grant. Returns the grant. */
  exceptTool(person: GrantId, grant: GrantId, tool: string): Promise<Outcome<Grant>> {
    return attempt(async () => {
      this.#person(person);
      const devices = this.#tokens.except(grant, tool, Date.now());
      await this.#send(devices, { type: "change", grant });
      return this.#grant(grant);
    });
  }

  /** Revokes a grant of any kind; the Device objects close its open sockets. */
  revokeToken(grant: GrantId, revoked: GrantId): Promise<Outcome<void>> {
    return attempt(async () => {
      this.#person(grant);
      await this.#revoke(revoked);
    });
  }

  /** Ends the caller's own grant. */
  signOut(grant: GrantId): Promise<Outcome<void>> {
    return attempt(() => this.#revoke(this.#grant(grant).id));
  }

  /** Creates the person session for a command line that a signed-in person confirmed. */
  createLogin(grant: GrantId, name: string): Promise<Outcome<Grant>> {
    return attempt(() => {
      this.#person(grant);
      return this.#signIn("cli", name, LIFETIME.cli);
    });
  }

  /** Counts a guess at a pairing code: a person has five in ten minutes. A correct guess is given back. */
  takeGuess(grant: GrantId): Promise<Outcome<number>> {
    return attempt(() => {
      this.#person(grant);
      const now = Date.now();
      const guess = this.#codes.takeGuess(now);
      if (guess !== undefined) return guess;
      throw relayError("RATE_LIMITED", "Too many wrong codes", retryIn(this.#codes.guessWait(now)));
    });
  }

  giveBackGuess(guess: number): void {
    this.#codes.giveBackGuess(guess);
  }

  requirePerson(grant: GrantId): Promise<Outcome<Grant>> {
    return attempt(() => this.#person(grant));
  }

  /** Counts a sign-in link that a person makes. */
  countLink(grant: GrantId): Promise<Outcome<void>> {
    return attempt(() => {
      this.#person(grant);
      this.#countCredential();
    });
  }

  override alarm(): Promise<void> {
    return this.#alarms.ring(Date.now());
  }

  #grant(id: GrantId): Grant {
    const grant = this.#grants.find(id, Date.now());
    if (!grant) throw new MatrxError(unauthenticated("The token was revoked or has expired"));
    return grant;
  }

  #person(id: GrantId): Grant {
    const grant = this.#grant(id);
    if (isPersonSession(grant)) return grant;
    throw relayError("PERMISSION_DENIED", "Only a signed-in person may do this, not a token", {
      hint: "Sign in on the relay's page or with `matrx login`",
    });
  }

  #countCredential(): void {
    const now = Date.now();
    if (this.#made.take(now)) return;
    throw relayError(
      "RATE_LIMITED",
      "Too many credentials are made at once",
      retryIn(this.#made.readyIn(now)),
    );
  }

  #signIn(kind: GrantKind, name: string, seconds: number): Grant {
    const now = Date.now();
    this.#prune(now);
    const grant = this.#tokens.add(kind, name, seconds, OWNER, now);
    this.#alarms.by("expiry", grant.expires);
    return grant;
  }

  /** Deletes what has expired; returns when the next grant expires. */
  #prune(now: number): number | undefined {
    this.#grants.prune(now);
    this.#holders.prune();
    this.#codes.prune(now);
    return this.#grants.nextExpiry();
  }

  async #newDeviceId(name: string): Promise<DeviceId> {
    for (;;) {
      const id = makeDeviceId(name);
      if (await directoryOf(this.env.DIRECTORY, id).add(id, this.#id)) return id;
    }
  }

  async #revoke(id: GrantId): Promise<void> {
    await this.#send(this.#tokens.revoke(id), { type: "revoke", grant: id });
  }

  async #send(devices: readonly string[], news: Parameters<DeviceNews["add"]>[1]): Promise<void> {
    if (devices.length === 0) return;
    this.#news.add(devices, news, Date.now());
    await this.#news.flush(Date.now());
  }
}

function notForDevice(device: string): MatrxError {
  return relayError("PERMISSION_DENIED", `This token may not use the device ${device}`, {
    hint: "GET /v1/devices lists the devices it may use",
  });
}
