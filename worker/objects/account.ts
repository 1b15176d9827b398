/** One user's devices, grants and tokens. Written on change only. */
import { DurableObject } from "cloudflare:workers";
import type { ApprovalView } from "@matrx/shared/approval.ts";
import { closeReason, isSendable } from "@matrx/shared/close-codes.ts";
import { MatrxError, relayError } from "@matrx/shared/errors.ts";
import { type Grant, type GrantKind, isPersonSession } from "@matrx/shared/grant.ts";
import { type AccountId, type DeviceId, type GrantId, makeDeviceId } from "@matrx/shared/ids.ts";
import { type Rate, TokenBucket } from "@matrx/shared/rate-limit.ts";
import { retryIn } from "@matrx/shared/retry.ts";
import type { ChangedToken, NewToken, TokenDetails, TokenView } from "@matrx/shared/token-api.ts";
import { LIFETIME } from "@matrx/shared/tokens.ts";
import { AccountApprovals, APPROVALS_KEPT } from "../account/approvals.ts";
import { DeviceNews } from "../account/device-news.ts";
import { type DeviceEntry, Devices } from "../account/devices.ts";
import { Grants, isFor } from "../account/grants.ts";
import { Holders } from "../account/holders.ts";
import { OneTimeCodes } from "../account/one-time-codes.ts";
import { PersonSockets } from "../account/person-sockets.ts";
import { leased, Tokens } from "../account/tokens.ts";
import { warningOf } from "../account/views.ts";
import { unauthenticated } from "../auth/keys.ts";
import type { SessionProof } from "../auth/session-proof.ts";
import type { LeasedGrant } from "../device/leases.ts";
import { authenticatedCaller } from "../device/socket.ts";
import type { DeviceIdentity } from "../device/store.ts";
import { attempt, type Outcome } from "../outcome.ts";
import { problemResponse } from "../problem.ts";
import { tooManyError, unknownDeviceError } from "../refusals.ts";
import type { Secrets } from "../secrets.ts";
import { AlarmTable } from "../storage/alarms.ts";
import { migrate } from "../storage/migrate.ts";
import { ACCOUNT } from "../storage/migrations.ts";
import type { Device } from "./device.ts";
import { type Directory, directoryOf } from "./directory.ts";

/** The objects that an account talks to. */
interface AccountEnv extends Secrets {
  DEVICE: DurableObjectNamespace<Device>;
  DIRECTORY: DurableObjectNamespace<Directory>;
}

/** What a person's new session is called, and the thumbprint of the key that a browser's is bound to. */
interface NewSession {
  name: string;
  key?: string;
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
  readonly #approvals: AccountApprovals;
  readonly #people: PersonSockets;
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
    this.#approvals = new AccountApprovals(sql);
    this.#people = new PersonSockets(state, env);
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
  claim(code: { id: string; expires: number }, session: NewSession): Promise<Outcome<Grant>> {
    return attempt(() => {
      if (!this.#codes.use(code.id, code.expires)) {
        throw new MatrxError(
          unauthenticated("This sign-in link has already been used", "Make a new one with `npm run link`"),
        );
      }
      return this.#signIn("web", session, LIFETIME.web);
    });
  }

  /** The grant of a browser's session that proved its key; the proof's nonce works once. */
  proveSession(grant: GrantId, { thumbprint, nonce }: SessionProof): Promise<Outcome<Grant>> {
    return attempt(() => {
      const found = this.#grant(grant);
      if (found.kind !== "web" || found.key !== thumbprint)
        throw new MatrxError(unauthenticated("This key is not the session's", "Sign in again on this page"));
      if (!this.#codes.use(nonce.id, nonce.expires))
        throw new MatrxError(unauthenticated("The proof was used before", "Sign one with a new nonce"));
      return found;
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
      this.#approvals.forgetDevice(device);
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
      return this.#signIn("cli", { name }, LIFETIME.cli);
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

  /** A device tells what waits for a decision there, or what became of it. */
  noteApproval(approval: ApprovalView): void {
    const { device, grant } = approval;
    // A device that was removed meanwhile.
    if (!this.#devices.has(device)) return;
    const now = Date.now();
    const grant_name = this.#grants.find(grant as GrantId, now)?.name ?? null;
    const noted = this.#approvals.note({ ...approval, grant_name }, now);
    this.#alarms.by("expiry", now + APPROVALS_KEPT);
    if (noted) this.#people.tell({ type: "approval", approval: noted }, now);
  }

  /** The approvals that wait for a decision, on all devices. */
  listApprovals(grant: GrantId): Promise<Outcome<ApprovalView[]>> {
    return attempt(() => {
      this.#person(grant);
      return this.#approvals.pending(Date.now());
    });
  }

  /** The account link of a person's session, which the Worker has authenticated. */
  override async fetch(request: Request): Promise<Response> {
    try {
      const caller = authenticatedCaller(request);
      if (!caller) throw new Error("an account link without a caller");
      const { expires } = this.#person(caller.grant);
      const now = Date.now();
      const waiting = this.#approvals
        .pending(now)
        .map((approval) => ({ type: "approval" as const, approval }));
      return this.#people.accept(
        request,
        { ...caller, expires: Math.min(expires, caller.expires) },
        waiting,
        now,
      );
    } catch (error) {
      return problemResponse(error);
    }
  }

  override webSocketMessage(ws: WebSocket, data: string | ArrayBuffer): Promise<void> {
    return this.#people.message(ws, data, Date.now());
  }

  /** The runtime does not answer a close frame on a hibernatable socket. */
  override webSocketClose(ws: WebSocket, code: number, reason: string): void {
    if (ws.readyState !== WebSocket.CLOSED) ws.close(isSendable(code) ? code : 1000, closeReason(reason));
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

  #signIn(kind: GrantKind, { name, key }: NewSession, seconds: number): Grant {
    const now = Date.now();
    this.#prune(now);
    const grant = this.#tokens.add(kind, name, seconds, { ...OWNER, ...(key && { key }) }, now);
    this.#alarms.by("expiry", grant.expires);
    return grant;
  }

  /** Deletes what has expired; returns when the next grant expires. */
  #prune(now: number): number | undefined {
    this.#grants.prune(now);
    this.#holders.prune();
    this.#codes.prune(now);
    this.#approvals.prune(now);
    const nexts = [this.#grants.nextExpiry(), this.#approvals.nextPrune()].filter((at) => at !== undefined);
    return nexts.length > 0 ? Math.min(...nexts) : undefined;
  }

  async #newDeviceId(name: string): Promise<DeviceId> {
    for (;;) {
      const id = makeDeviceId(name);
      if (await directoryOf(this.env.DIRECTORY, id).add(id, this.#id)) return id;
    }
  }

  async #revoke(id: GrantId): Promise<void> {
    const holders = this.#tokens.revoke(id);
    this.#people.revoke(id);
    await this.#send(holders, { type: "revoke", grant: id });
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
