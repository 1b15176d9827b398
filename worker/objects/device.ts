/** One device: its socket and its callers' end here, and every call passes through. Delegates to `device/`. */
import { DurableObject } from "cloudflare:workers";
import type { CallList, CallQuery, CallView, DeviceView, EventList, EventQuery } from "@matrx/shared/api.ts";
import { CLOSE, closeReason, isSendable } from "@matrx/shared/close-codes.ts";
import type { DeviceEvent } from "@matrx/shared/events.ts";
import type { CallId, DeviceId, GrantId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { type Policy, policyWarnings } from "@matrx/shared/policy.ts";
import type { Caller } from "../auth/caller.ts";
import { type Command, type DeviceTools, type OpenTools, Requests } from "../device/api.ts";
import { ResponseBodies } from "../device/callers/response-bodies.ts";
import { type GuideAnswer, type RestAnswer, type RestCall, RestCalls } from "../device/callers/rest.ts";
import type { CallerAttachment } from "../device/callers/session.ts";
import { Callers } from "../device/callers/sockets.ts";
import { EventStreams } from "../device/callers/sse.ts";
import { type OpenStream, RestStreams, type StreamedCall } from "../device/callers/sse-call.ts";
import { Tickets } from "../device/callers/tickets.ts";
import { Admission } from "../device/calls/admission.ts";
import { AnswerCredit } from "../device/calls/answer-credit.ts";
import { Calls } from "../device/calls/calls.ts";
import { Ledger } from "../device/calls/ledger.ts";
import { Recovery } from "../device/calls/recovery.ts";
import { type DeviceAttachment, DeviceLink } from "../device/connection.ts";
import { Events } from "../device/event-log.ts";
import { type Accounts, Leases } from "../device/leases.ts";
import { DeviceMessages } from "../device/link/messages.ts";
import { SignOfLife } from "../device/link/sign-of-life.ts";
import { DeviceSockets } from "../device/link/sockets.ts";
import { Rates } from "../device/rates.ts";
import { accountOf, authenticatedCaller } from "../device/socket.ts";
import { type DeviceRecord, RecordStore } from "../device/store.ts";
import { Timer } from "../device/timer.ts";
import { attempt, type Outcome } from "../outcome.ts";
import { problemResponse } from "../problem.ts";
import { unknownDeviceError } from "../refusals.ts";
import type { Secrets } from "../secrets.ts";
import { AlarmTable } from "../storage/alarms.ts";
import { StorageHealth } from "../storage/health.ts";
import { migrate } from "../storage/migrate.ts";
import { DEVICE } from "../storage/migrations.ts";
import { watched } from "../storage/watched.ts";

/** What a device needs of its surroundings. */
export interface DeviceEnv extends Secrets {
  ACCOUNT: Accounts;
  DEVICE: { getByName(name: string): { probeStorage(): Promise<void> } };
}

/** An object of this class without a device, and so without sockets: it may fail. */
const PROBE = "storage probe";

/** How often an object looks after calls that take long, in milliseconds. */
const LOOK_AGAIN = 60_000;
/** How often old outcomes are removed, in milliseconds. */
const PRUNE_EVERY = 6 * 60 * 60_000;

export class Device extends DurableObject<DeviceEnv> {
  readonly #health: StorageHealth;
  readonly #store: RecordStore;
  readonly #ledger: Ledger;
  readonly #link: DeviceLink;
  readonly #signs: SignOfLife;
  readonly #events: Events;
  readonly #calls: Calls;
  readonly #recovery: Recovery;
  readonly #credit: AnswerCredit;
  readonly #leases: Leases;
  readonly #admission: Admission;
  readonly #callers: Callers;
  readonly #bodies = new ResponseBodies();
  readonly #streams = new EventStreams(this.#bodies);
  readonly #requests: Requests;
  readonly #messages: DeviceMessages;
  readonly #sockets: DeviceSockets;
  readonly #tickets: Tickets;
  readonly #timer: Timer;
  readonly #alarms: AlarmTable<"calls" | "prune">;
  #rates: Rates;

  constructor(state: DurableObjectState, env: DeviceEnv) {
    super(state, env);
    state.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
    const device = () => this.#record().id;
    const rates = () => this.#rates;
    const scheduled = (now: number) => this.#timer.by(now + TIMES.ackWithin);
    const later = (at: number) => this.#timer.by(at);
    const health = new StorageHealth({
      id: state.id.toString(),
      sync: () => state.storage.sync(),
      probe: () => env.DEVICE.getByName(PROBE).probeStorage(),
    });
    const storage = watched(state.storage, () => health.wrote());
    this.#health = health;
    this.#store = new RecordStore(storage.kv, health);
    // An unknown device stores nothing.
    if (this.#store.record) migrate(state.storage, DEVICE);
    this.#ledger = new Ledger(storage.sql, health);
    this.#events = new Events(storage, health);
    this.#link = new DeviceLink((ws) => state.getWebSocketAutoResponseTimestamp(ws));
    this.#signs = new SignOfLife(this.#link);
    const settled = (call: string) => this.#credit.settled(call);
    this.#calls = new Calls(this.#store, this.#link, this.#signs, this.#ledger, later, settled);
    this.#recovery = new Recovery(device, this.#calls, this.#link, this.#ledger);
    this.#credit = new AnswerCredit({
      ...{ calls: this.#calls, link: this.#link, ledger: this.#ledger },
      queued: {
        of: (grant) => this.#callers.queuedOf(grant) + this.#bodies.queuedOf(grant),
        total: () => this.#callers.queued + this.#bodies.queued,
      },
    });
    this.#bodies.onClosed = () => this.#credit.look();
    this.#leases = new Leases(env.ACCOUNT);
    this.#tickets = new Tickets(storage.kv, health);
    this.#timer = new Timer(() => this.tick(Date.now()));
    const calls = (now: number) => void this.tick(now);
    this.#alarms = new AlarmTable(storage, { calls, prune: (now) => this.#prune(now) }, health);
    this.#rates = new Rates();
    const parts = {
      store: this.#store,
      link: this.#link,
      signs: this.#signs,
      ledger: this.#ledger,
      calls: this.#calls,
      credit: this.#credit,
      recovery: this.#recovery,
      rates,
      health,
    };
    this.#admission = new Admission(parts);
    this.#requests = new Requests({
      ...{ ...parts, record: () => this.#record(), events: this.#events, leases: this.#leases },
      ...{ admission: this.#admission, callStarted: (now: number) => this.#watchCalls(now) },
      rest: new RestCalls({ ...parts, device, admission: this.#admission, bodies: this.#bodies }),
      ...{ name: (state.id.name ?? "") as DeviceId, accounts: env.ACCOUNT },
      streams: new RestStreams({ ...parts, device, admission: this.#admission, streams: this.#streams }),
    });
    const event = (event: DeviceEvent, now: number) => this.#event(event, now);
    this.#messages = new DeviceMessages({ ...parts, device, event, scheduled, later });
    this.#sockets = new DeviceSockets(state, env, {
      ...parts,
      messages: this.#messages,
      linkChanged: () => this.#timer.by(Date.now()),
    });
    this.#callers = new Callers(state, env, {
      ...{ leases: this.#leases, calls: this.#calls, events: this.#events, admission: this.#admission },
      callStarted: (now) => this.#watchCalls(now),
    });
    this.#restore();
  }

  /** Upgrades: callers that the Worker vouches for, and devices that still have to prove themselves. */
  override async fetch(request: Request): Promise<Response> {
    try {
      const caller = authenticatedCaller(request);
      const record = await this.#requests.requireRecord(caller?.account ?? accountOf(request));
      if (!caller) return await this.#sockets.accept(request, record);
      if (caller.ticket) this.#tickets.redeem(caller.ticket, record.id, Date.now());
      return await this.#callers.accept(request, caller, record);
    } catch (error) {
      return problemResponse(error);
    }
  }

  override webSocketMessage(ws: WebSocket, data: string | ArrayBuffer): void {
    const now = Date.now();
    if (!this.#sockets.message(ws, data, now)) this.#callers.message(ws, data, now);
  }

  /** The runtime does not answer a close frame of a hibernatable socket by itself. */
  override webSocketClose(ws: WebSocket, code: number, reason: string): void {
    this.#gone(ws);
    if (ws.readyState !== WebSocket.CLOSED) ws.close(isSendable(code) ? code : 1000, closeReason(reason));
  }

  override webSocketError(ws: WebSocket): void {
    this.#gone(ws);
  }

  override alarm(): Promise<void> {
    return this.#alarms.ring(Date.now());
  }

  /** Makes this object the device's: only the Account does that. */
  initialize(record: DeviceRecord): void {
    if (this.#store.record) throw new Error(`${record.id} is adopted already`);
    migrate(this.ctx.storage, DEVICE);
    this.#store.initialize(record);
  }

  /** The Account has seen that a person asks. */
  rename(name: string): void {
    this.#store.rename(name);
  }

  /** The account removed the device: nothing of it stays. */
  async destroy(): Promise<void> {
    if (this.#store.record) this.#calls.endAll(unknownDeviceError(this.#store.record.id).shape());
    this.#sockets.closeAll(CLOSE.revoked, "The device was removed from its account");
    this.#callers.closeAll(CLOSE.unknownDevice, "The device was removed from its account");
    await this.ctx.storage.deleteAll();
    this.#store.destroy();
    this.#events.destroy();
  }

  /** A grant is gone: its calls end, its sockets close. */
  revoke(grant: GrantId): void {
    this.#leases.revoke(grant);
    if (this.#store.record) this.#calls.revoke(grant);
    this.#callers.revoke(grant);
    this.#streams.revoke(grant);
  }

  /** For the account's own device list; the grant was checked there. */
  view(account: string): DeviceView | undefined {
    const record = this.#store.record;
    if (record?.account !== account) return undefined;
    return this.#requests.viewOf(record);
  }

  viewFor(caller: Caller): Promise<Outcome<DeviceView>> {
    return this.#requests.view(caller);
  }

  tools(caller: Caller): Promise<Outcome<DeviceTools>> {
    return this.#requests.tools(caller);
  }

  /** The tools that this caller may call, as models know them, and the machine that they are on. */
  openTools(caller: Caller): Promise<Outcome<OpenTools>> {
    return this.#requests.openTools(caller);
  }

  /** A REST call: its answer, or `pending` after 60 seconds. */
  call(caller: Caller, wanted: RestCall): Promise<Outcome<RestAnswer>> {
    return this.#requests.call(caller, wanted);
  }

  /** The same on the guide's route: its answer, which begins before the call's end if that takes long. */
  callByGuide(caller: Caller, wanted: RestCall): Promise<Outcome<GuideAnswer>> {
    return this.#requests.callByGuide(caller, wanted);
  }

  /** A REST call whose caller is told what becomes of it as it happens. */
  streamCall(caller: Caller, wanted: StreamedCall): Promise<Outcome<OpenStream>> {
    return this.#requests.streamCall(caller, wanted);
  }

  /** What becomes of a call that was made before, as it happens. */
  attach(caller: Caller, call: CallId): Promise<Outcome<OpenStream>> {
    return this.#requests.attach(caller, call);
  }

  /** A call's record. */
  readCall(caller: Caller, call: CallId): Promise<Outcome<CallView>> {
    return this.#requests.readCall(caller, call);
  }

  /** The calls of a grant, or of all for the owner. */
  listCalls(caller: Caller, query: CallQuery): Promise<Outcome<CallList>> {
    return this.#requests.listCalls(caller, query);
  }

  /** Asks for a call to stop; its outcome says whether it did. */
  cancelCall(caller: Caller, call: CallId): Promise<Outcome<void>> {
    return this.#requests.cancelCall(caller, call);
  }

  /** What the device reported, for a grant that may read it. */
  events(caller: Caller, query: EventQuery): Promise<Outcome<EventList>> {
    return this.#requests.events(caller, query);
  }

  /** Hands a command to the device's program. */
  command(caller: Caller, command: Command, reason: string | undefined): Promise<Outcome<void>> {
    return this.#requests.command(caller, command, reason);
  }

  /** Writes, for an object that no longer can; resolves when that is confirmed. */
  probeStorage(): void {
    this.ctx.storage.kv.put("probed", Date.now());
  }

  policy(caller: Caller): Promise<Outcome<Policy>> {
    return this.#requests.policy(caller);
  }

  /** Holds at once; the device is told, if it is there. The Account has seen that a person asks. Gives warnings. */
  setPolicy(policy: Policy): Promise<Outcome<string[]>> {
    return attempt(() => {
      this.#record();
      const announced = this.#store.manifest?.tools.map(({ name }) => name);
      const warnings = announced ? policyWarnings(policy, announced) : [];
      if (JSON.stringify(policy) === JSON.stringify(this.#store.policy)) return warnings;
      this.#store.setPolicy(policy);
      this.#calls.policyChanged(Date.now());
      const why = "The policy at the relay has changed";
      this.#link.send(this.#requests.commandFrame("update_permissions", why));
      return warnings;
    });
  }

  /** Answers of the device to calls that it was not given, since this object woke. */
  get strays(): number {
    return this.#calls.strays.total;
  }

  /** What is under way inside, since this object woke. */
  diagnostics() {
    return {
      /** Who waits for the answer to a call. */
      recipients: this.#calls.pendingCalls.all().flatMap(({ recipients }) => recipients).length,
      /** Bytes of answers that HTTP readers did not take yet. */
      queuedBytes: this.#bodies.queued,
      /** Large answers that wait at the device for their readers. */
      waitingAnswers: this.#credit.waiting,
    };
  }

  /** Event streams that somebody reads, or did not read to the end yet. */
  get openStreams(): number {
    return this.#streams.size;
  }

  /** Looks after what takes long or is over: acknowledgements, attachments, deadlines, a silent link. */
  tick(now: number): void {
    if (!this.#store.record) return;
    this.#calls.flushAcks();
    this.#calls.strays.flush(now);
    this.#messages.reports.flush(now);
    this.#events.flush();
    this.#credit.look(now);
    this.#callers.persist(now);
    this.#sockets.persist(this.#rates, this.#calls.proof);
    if (this.#calls.pendingCalls.size > 0) this.#sockets.requireSigns(now);
    this.#recovery.sweep(now);
    this.#health.probe();
    this.#lookAgain(now);
  }

  #record(): DeviceRecord {
    const { record } = this.#store;
    if (!record) throw unknownDeviceError(this.ctx.id.name ?? "");
    return record;
  }

  #event(event: DeviceEvent, now: number): void {
    try {
      if (this.#events.keep(event, now)) this.#callers.tellEvents(now);
    } finally {
      if (this.#events.isUnsaved) this.#timer.by(now + TIMES.settleAfter);
    }
  }

  /** Once for each socket. One that dropped while the object slept is met here first: `#restore` does not find it. */
  #gone(ws: WebSocket): void {
    const attachment = ws.deserializeAttachment() as DeviceAttachment | CallerAttachment | null;
    if (attachment?.role === "caller") this.#callers.closed(ws, attachment);
    else if (attachment) this.#sockets.closed(ws, attachment, Date.now());
  }

  /** After a sleep everything is in the sockets' attachments. */
  #restore(): void {
    const devices: { ws: WebSocket; attachment: DeviceAttachment }[] = [];
    for (const ws of this.ctx.getWebSockets()) {
      const attachment = ws.deserializeAttachment() as DeviceAttachment | CallerAttachment | null;
      if (attachment?.role === "caller") this.#callers.restore(ws, attachment);
      else if (attachment) devices.push({ ws, attachment });
    }
    this.#sockets.restore(devices);
    const current = this.#link.current?.attachment;
    if (!current) return this.#recovery.linkDown(this.#store.lastSeen?.last_seen ?? Date.now());
    this.#rates = new Rates(current.rates);
    this.#calls.restoreProof(current.proof);
  }

  /** Calls under way are looked at soon; those that take long, by alarm, so that the object can sleep. */
  #watchCalls(now: number): void {
    this.#timer.by(now + TIMES.settleAfter);
  }

  #prune(now: number): number | undefined {
    this.#ledger.prune(now);
    return this.#ledger.isEmpty() ? undefined : now + PRUNE_EVERY;
  }

  #lookAgain(now: number): void {
    if (this.#signs.isAsked && this.#calls.pendingCalls.size > 0) this.#timer.by(now + TIMES.signWithin);
    if (this.#ledger.isUnsaved) this.#timer.by(now + TIMES.settleAfter);
    const next = this.#recovery.nextSweep();
    if (next === undefined) {
      if (!this.#ledger.isEmpty()) this.#alarms.by("prune", now + PRUNE_EVERY);
      return;
    }
    const young = this.#calls.pendingCalls.all().some(({ created }) => now - created < TIMES.settleAfter);
    if (young || next - now <= 2 * TIMES.settleAfter) this.#timer.by(Math.min(next, now + TIMES.settleAfter));
    else this.#alarms.by("calls", Math.min(next, now + LOOK_AGAIN));
  }
}
