/** One user's devices, grants and tokens. Written on change only. */
import { DurableObject } from "cloudflare:workers";
import type { newTokenSchema, tokenViewSchema } from "@matrx/shared/api.ts";
import type { ApprovalView } from "@matrx/shared/approval.ts";
import { closeReason, isSendable } from "@matrx/shared/close-codes.ts";
import { MatrxError, relayError } from "@matrx/shared/errors.ts";
import { type Grant, type GrantKind, isPersonSession } from "@matrx/shared/grant.ts";
import { type AccountId, type DeviceId, type GrantId, makeDeviceId, makeGrantId } from "@matrx/shared/ids.ts";
import { LIFETIME } from "@matrx/shared/tokens.ts";
import type * as z from "zod";
import { AccountApprovals, APPROVALS_KEPT } from "../account/approvals.ts";
import { type DeviceEntry, Devices } from "../account/devices.ts";
import { Grants, type May, scopeOf } from "../account/grants.ts";
import { OneTimeCodes } from "../account/one-time-codes.ts";
import { PersonSockets } from "../account/person-sockets.ts";
import { tokenView } from "../account/views.ts";
import { unauthenticated } from "../auth/keys.ts";
import type { LeasedGrant } from "../device/leases.ts";
import { authenticatedCaller } from "../device/socket.ts";
import type { DeviceIdentity } from "../device/store.ts";
import { Outbox } from "../outbox.ts";
import { attempt, type Outcome } from "../outcome.ts";
import { problemResponse } from "../problem.ts";
import { unknownDeviceError } from "../refusals.ts";
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
const TOKENS_MAX = 1000;
/** Delay before an interrupted push is retried, in milliseconds. */
const PUSH_AGAIN = 60_000;
const OWNER: Pick<Grant, "owner" | "effects"> = { owner: true, effects: ["read", "write", "execute"] };

export class Account extends DurableObject<AccountEnv> {
  readonly #id: AccountId;
  readonly #grants: Grants;
  readonly #devices: Devices;
  readonly #codes: OneTimeCodes;
  readonly #approvals: AccountApprovals;
  readonly #people: PersonSockets;
  readonly #outbox: Outbox;
  readonly #alarms: AlarmTable<"outbox" | "expiry">;

  constructor(state: DurableObjectState, env: AccountEnv) {
    super(state, env);
    migrate(state.storage, ACCOUNT);
    const { sql } = state.storage;
    this.#id = (state.id.name ?? "") as AccountId;
    this.#grants = new Grants(sql, this.#id);
    this.#devices = new Devices(sql);
    this.#codes = new OneTimeCodes(sql);
    this.#approvals = new AccountApprovals(sql);
    this.#people = new PersonSockets(state);
    this.#outbox = new Outbox(sql, (device, body) => this.#tellDevice(device as DeviceId, body));
    this.#alarms = new AlarmTable(state.storage, {
      outbox: (now) => this.#outbox.flush(now),
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
      return this.#newGrant("web", name, LIFETIME.web, OWNER);
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
      if (found.devices && !found.devices.includes(device)) throw notForDevice(device);
      this.#grants.noteLease(grant, device);
      return { scope: scopeOf(found), version: found.version, expires: found.expires };
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
      const { devices } = this.#grant(grant);
      return this.#devices.list().filter(({ id }) => !devices || devices.includes(id));
    });
  }

  /** Adds a device to this account; `identity` is how it proves itself. */
  addDevice(grant: GrantId, name: string, identity: DeviceIdentity): Promise<Outcome<DeviceEntry>> {
    return attempt(async () => {
      this.#person(grant);
      if (this.#devices.count() >= DEVICES_MAX) throw tooMany("devices", DEVICES_MAX);
      const entry = { id: await this.#newDeviceId(name), name, created: Date.now() };
      await this.env.DEVICE.getByName(entry.id).initialize({ ...entry, account: this.#id, identity });
      this.#devices.add(entry);
      return entry;
    });
  }

  renameDevice(grant: GrantId, device: DeviceId, name: string): Promise<Outcome<void>> {
    return attempt(async () => {
      this.#person(grant);
      if (!this.#devices.has(device)) throw unknownDeviceError(device);
      await this.env.DEVICE.getByName(device).rename(name);
      this.#devices.rename(device, name);
    });
  }

  /** Removes a device. Its object wipes its data, later if it cannot be reached right now. */
  removeDevice(grant: GrantId, device: DeviceId): Promise<Outcome<void>> {
    return attempt(async () => {
      this.#person(grant);
      if (!this.#devices.remove(device, Date.now())) throw unknownDeviceError(device);
      this.#grants.forgetDevice(device);
      this.#approvals.forgetDevice(device);
      await this.#send([device], { type: "forget" });
    });
  }

  createToken(grant: GrantId, wish: z.infer<typeof newTokenSchema>): Promise<Outcome<Grant>> {
    return attempt(() => {
      this.#person(grant);
      for (const device of wish.devices ?? [])
        if (!this.#devices.has(device)) throw unknownDeviceError(device);
      const may: May =
        wish.access === "full" && !wish.paths
          ? { ...OWNER }
          : { owner: false, effects: effectsOf(wish.access) };
      if (wish.devices) may.devices = wish.devices;
      if (wish.paths) may.paths = wish.paths;
      return this.#newGrant("api", wish.name, wish.days * 24 * 60 * 60, may);
    });
  }

  listTokens(grant: GrantId): Promise<Outcome<z.infer<typeof tokenViewSchema>[]>> {
    return attempt(() => {
      this.#person(grant);
      return this.#grants.list(Date.now()).map(tokenView);
    });
  }

  /** Nobody is asked about a tool of this grant any more, for the grant's own rules; those of policies stay. */
  exceptTool(person: GrantId, grant: GrantId, tool: string): Promise<Outcome<Grant>> {
    return attempt(() => {
      this.#person(person);
      const found = this.#grant(grant);
      const ask = (found.ask ?? []).map((rule) => ({
        ...rule,
        except: [...new Set([...(rule.except ?? []), tool])],
      }));
      const changed: Grant = { ...found, ask, version: found.version + 1 };
      this.#grants.update(changed);
      return changed;
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
      return this.#newGrant("cli", name, LIFETIME.cli, OWNER);
    });
  }

  /** Counts a guess at a pairing code: a person has five in ten minutes. A correct guess is given back. */
  takeGuess(grant: GrantId): Promise<Outcome<number>> {
    return attempt(() => {
      this.#person(grant);
      const guess = this.#codes.takeGuess(Date.now());
      if (guess !== undefined) return guess;
      throw relayError("RATE_LIMITED", "Too many wrong codes", { hint: "Wait ten minutes, then pair again" });
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

  override webSocketMessage(ws: WebSocket, data: string | ArrayBuffer): void {
    this.#people.message(ws, data, Date.now());
  }

  /** The runtime does not answer a close frame on a hibernatable socket. */
  override webSocketClose(ws: WebSocket, code: number, reason: string): void {
    if (ws.readyState !== WebSocket.CLOSED) ws.close(isSendable(code) ? code : 1000, closeReason(reason));
  }

  requirePerson(grant: GrantId): Promise<Outcome<Grant>> {
    return attempt(() => this.#person(grant));
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
    throw relayError("PERMISSION_DENIED", "Only a signed-in person may do this, not an API token", {
      hint: "Sign in on the relay's page or with `matrx login`",
    });
  }

  #newGrant(kind: GrantKind, name: string, seconds: number, may: May): Grant {
    const now = Date.now();
    this.#prune(now);
    if (this.#grants.list(now).length >= TOKENS_MAX) throw tooMany("tokens", TOKENS_MAX);
    const expires = now + seconds * 1000;
    const grant: Grant = {
      ...may,
      id: makeGrantId(),
      account: this.#id,
      kind,
      name,
      created: now,
      expires,
      version: 1,
    };
    this.#grants.add(grant);
    this.#alarms.by("expiry", expires);
    return grant;
  }

  /** Deletes what has expired; returns when the next grant expires. */
  #prune(now: number): number | undefined {
    this.#grants.prune(now);
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
    const holders = this.#grants.remove(id);
    if (!holders) {
      throw relayError("NOT_FOUND", "No such token", { hint: "GET /v1/tokens lists them" });
    }
    this.#people.revoke(id);
    await this.#send(holders, { type: "revoke", grant: id });
  }

  async #send(devices: readonly string[], news: DeviceNews): Promise<void> {
    const now = Date.now();
    if (devices.length === 0) return;
    for (const device of devices) this.#outbox.enqueue(device, JSON.stringify(news), now);
    // Set before the first attempt: if this object dies before the acknowledgement, the alarm pushes again.
    this.#alarms.by("outbox", now + PUSH_AGAIN);
    const next = await this.#outbox.flush(now);
    if (next) this.#alarms.by("outbox", next);
  }

  async #tellDevice(device: DeviceId, body: string): Promise<void> {
    const news = JSON.parse(body) as DeviceNews;
    const stub = this.env.DEVICE.getByName(device);
    if (news.type === "revoke") return stub.revoke(news.grant);
    await stub.destroy();
    await directoryOf(this.env.DIRECTORY, device).remove(device);
  }
}

type DeviceNews = { type: "forget" } | { type: "revoke"; grant: GrantId };

function effectsOf(access: "full" | "read"): Grant["effects"] {
  return access === "full" ? ["read", "write", "execute"] : ["read"];
}

function notForDevice(device: string): MatrxError {
  return relayError("PERMISSION_DENIED", `This token may not use the device ${device}`, {
    hint: "GET /v1/devices lists the devices it may use",
  });
}

function tooMany(what: string, limit: number): MatrxError {
  return relayError("RATE_LIMITED", `An account can have at most ${limit} ${what}`, {
    hint: "Remove some first",
    details: { limit },
  });
}
