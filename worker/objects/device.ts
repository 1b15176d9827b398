/** One device: its socket and its callers' end here, and every call passes through. Delegates to `device/`. */
import { DurableObject } from "cloudflare:workers";
import type { CallView, DeviceView, EventList, EventQuery } from "@matrx/shared/api.ts";
import { CLOSE, closeReason, isSendable } from "@matrx/shared/close-codes.ts";
import type { SystemCommand } from "@matrx/shared/device-frames.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import { type DeviceEvent, eventRefusal } from "@matrx/shared/events.ts";
import { type CallId, callTime, type GrantId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import type { Policy } from "@matrx/shared/policy.ts";
import type { Machine } from "@matrx/shared/system-prompt.ts";
import type { ToolDescription } from "@matrx/shared/tool.ts";
import type { NamedTool } from "@matrx/shared/tool-formats.ts";
import type { Caller } from "../auth/caller.ts";
import { Admission } from "../device/admission.ts";
import { CallerLink } from "../device/caller-link.ts";
import type { CallerAttachment } from "../device/caller-session.ts";
import { Callers } from "../device/callers.ts";
import { Calls } from "../device/calls.ts";
import { type DeviceAttachment, DeviceLink } from "../device/device-link.ts";
import { DeviceMessages } from "../device/device-messages.ts";
import { DeviceSockets } from "../device/device-sockets.ts";
import { EventStreams } from "../device/event-streams.ts";
import { Events } from "../device/events.ts";
import { openTools, toolNames } from "../device/gate.ts";
import { type Accounts, type Lease, Leases } from "../device/leases.ts";
import { callView, Ledger } from "../device/ledger.ts";
import { Rates } from "../device/rates.ts";
import { type DeviceRecord, RecordStore } from "../device/record.ts";
import { Recovery } from "../device/recovery.ts";
import { noSuchCall, type RestAnswer, type RestCall, restCall } from "../device/rest.ts";
import { type OpenStream, RestStreams, type StreamedCall } from "../device/rest-stream.ts";
import { Tickets } from "../device/tickets.ts";
import { Alarm, Timer } from "../device/timer.ts";
import { vouchedCaller } from "../device/upgrade.ts";
import { deviceView } from "../device/view.ts";
import { attempt, type Outcome } from "../outcome.ts";
import { problemResponse } from "../problem.ts";
import { unknownDevice } from "../refusals.ts";
import type { Secrets } from "../secrets.ts";

/** What a device needs of its surroundings. */
export interface DeviceEnv extends Secrets {
  ACCOUNT: Accounts;
}

type Command = SystemCommand["command"];

/** What a device has, as its policy leaves it. */
export interface DeviceTools {
  names: string[];
  hash: string | null;
  tools: ToolDescription[];
}

/** What one caller may call. */
export interface OpenTools {
  machine: Machine;
  hash: string | null;
  tools: NamedTool[];
}

/** How often an object looks after calls that take long, in milliseconds. */
const LOOK_AGAIN = 60_000;
/** How often old outcomes are removed, in milliseconds. */
const PRUNE_EVERY = 6 * 60 * 60_000;

export class Device extends DurableObject<DeviceEnv> {
  readonly #store: RecordStore;
  readonly #ledger: Ledger;
  readonly #link: DeviceLink;
  readonly #events: Events;
  readonly #calls: Calls;
  readonly #recovery: Recovery;
  readonly #leases: Leases;
  readonly #admission: Admission;
  readonly #callers: Callers;
  readonly #streams = new EventStreams();
  readonly #restStreams: RestStreams;
  readonly #sockets: DeviceSockets;
  readonly #tickets: Tickets;
  readonly #timer: Timer;
  readonly #alarm: Alarm;
  #rates: Rates;

  constructor(state: DurableObjectState, env: DeviceEnv) {
    super(state, env);
    state.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
    const device = () => this.#record().id;
    const rates = () => this.#rates;
    const scheduled = (now: number) => this.#timer.by(now + TIMES.ackWithin);
    this.#store = new RecordStore(state.storage.kv);
    this.#ledger = new Ledger(state.storage.sql);
    this.#events = new Events(state.storage);
    this.#link = new DeviceLink((ws) => state.getWebSocketAutoResponseTimestamp(ws));
    this.#calls = new Calls(this.#store, this.#link, this.#ledger);
    this.#recovery = new Recovery(device, this.#calls, this.#link, this.#ledger);
    this.#leases = new Leases(env.ACCOUNT);
    this.#tickets = new Tickets(state.storage.kv);
    this.#timer = new Timer(() => this.lookAfter(Date.now()));
    this.#alarm = new Alarm(state.storage);
    this.#rates = new Rates();
    const parts = {
      store: this.#store,
      link: this.#link,
      ledger: this.#ledger,
      calls: this.#calls,
      recovery: this.#recovery,
      rates,
    };
    this.#admission = new Admission(parts);
    this.#restStreams = new RestStreams({
      ...{ device, admission: this.#admission, calls: this.#calls },
      ...{ ledger: this.#ledger, streams: this.#streams },
    });
    const event = (event: DeviceEvent, now: number) => this.#event(event, now);
    const messages = new DeviceMessages({ ...parts, device, event, scheduled });
    this.#sockets = new DeviceSockets(state, env, {
      ...parts,
      messages,
      cameBack: () => this.#timer.by(Date.now()),
    });
    const callerLink = new CallerLink({
      admission: this.#admission,
      calls: this.#calls,
      renew: (session, token) => this.#callers.renew(session, token),
      wantEvents: (session, after, now) => this.#callers.wantEvents(session, after, now),
      scheduled: (now) => this.#lookAfterCalls(now),
    });
    this.#callers = new Callers(state, env, {
      ...{ leases: this.#leases, calls: this.#calls, events: this.#events },
      link: callerLink,
    });
    this.#restore();
  }

  /** Upgrades: callers that the Worker vouches for, and devices that still have to prove themselves. */
  override async fetch(request: Request): Promise<Response> {
    try {
      const record = this.#record();
      const caller = vouchedCaller(request);
      if (!caller) return await this.#sockets.accept(request, record);
      this.#requireOwn(caller);
      if (caller.ticket) this.#tickets.strikeOff(caller.ticket, record.id, Date.now());
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

  override alarm(): void {
    const now = Date.now();
    if (!this.#store.record) return;
    this.#ledger.prune(now);
    this.lookAfter(now);
  }

  /** Makes this object the device's: only the Account does that. */
  adopt(record: DeviceRecord): void {
    if (this.#store.record) throw new Error(`${record.id} is adopted already`);
    this.#store.adopt(record);
    this.#ledger.createTables();
  }

  /** The account removed the device: nothing of it stays. */
  async forget(): Promise<void> {
    this.#link.current?.ws.close(CLOSE.revoked, "The device was removed from its account");
    if (this.#store.record) this.#calls.endAll(unknownDevice(this.#store.record.id).shape());
    this.#callers.closeAll(CLOSE.unknownDevice, "The device was removed from its account");
    await this.ctx.storage.deleteAll();
    this.#store.forget();
    this.#events.forget();
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
    return this.#view(record);
  }

  viewFor(caller: Caller): Promise<Outcome<DeviceView>> {
    return attempt(async () => {
      await this.#lease(caller);
      return this.#view(this.#record());
    });
  }

  tools(caller: Caller): Promise<Outcome<DeviceTools>> {
    return attempt(async () => {
      await this.#lease(caller);
      const { manifest } = this.#store;
      const names = toolNames(this.#store);
      const tools = manifest?.tools.filter(({ name }) => names.includes(name)) ?? [];
      return { names, hash: manifest?.hash ?? null, tools };
    });
  }

  /** The tools that this caller may call, as models know them, and the machine that they are on. */
  openTools(caller: Caller): Promise<Outcome<OpenTools>> {
    return attempt(async () => {
      const { scope } = await this.#lease(caller);
      const { name } = this.#record();
      const { introduction } = this.#store;
      const { os = null, os_version = null } = introduction ?? {};
      const hash = this.#store.manifest?.hash ?? null;
      return { machine: { name, os, os_version }, hash, tools: openTools(scope, this.#store) };
    });
  }

  /** A REST call: its answer, or `pending` after 60 seconds. */
  call(caller: Caller, wanted: RestCall): Promise<Outcome<RestAnswer>> {
    return attempt(async () => {
      const lease = await this.#lease(caller);
      const now = Date.now();
      const answer = restCall(this.#admission, { ...wanted, lease }, now);
      this.#lookAfterCalls(now);
      return answer;
    });
  }

  /** A REST call whose caller is told what becomes of it as it happens. */
  streamCall(caller: Caller, wanted: StreamedCall): Promise<Outcome<OpenStream>> {
    return attempt(async () => {
      const lease = await this.#lease(caller);
      const now = Date.now();
      const stream = this.#restStreams.call(lease, wanted, now);
      this.#lookAfterCalls(now);
      return stream;
    });
  }

  /** What becomes of a call that was made before, as it happens. */
  attach(caller: Caller, call: CallId): Promise<Outcome<OpenStream>> {
    return attempt(async () => {
      const lease = await this.#lease(caller);
      const now = Date.now();
      const stream = this.#restStreams.attach(lease, call, now);
      this.#lookAfterCalls(now);
      return stream;
    });
  }

  /** A call's record. */
  readCall(caller: Caller, call: CallId): Promise<Outcome<CallView>> {
    return attempt(async () => {
      const { scope } = await this.#lease(caller);
      const row = this.#ledger.find(call);
      if (!row || (row.grant_id !== scope.id && !scope.owner)) throw noSuchCall();
      return callView(row, this.#record().id);
    });
  }

  /** Asks for a call to stop; its outcome says whether it did. */
  cancelCall(caller: Caller, call: CallId): Promise<Outcome<void>> {
    return attempt(async () => {
      const { scope } = await this.#lease(caller);
      const flight = this.#calls.flights.get(call);
      const grant = flight?.grant ?? this.#ledger.find(call)?.grant_id;
      if (!grant || (grant !== scope.id && !scope.owner)) throw noSuchCall();
      this.#calls.cancel(call);
    });
  }

  policy(): Policy {
    return this.#store.policy;
  }

  /** Holds at once; the device is told, if it is there. The Account has seen that a person asks. */
  setPolicy(policy: Policy): Promise<Outcome<void>> {
    return attempt(() => {
      this.#record();
      if (JSON.stringify(policy) === JSON.stringify(this.#store.policy)) return;
      this.#store.setPolicy(policy);
      this.#link.send(this.#systemCommand("update_permissions", "The policy at the relay has changed"));
    });
  }

  /** Hands a command to the device's program. The Account has seen that a person asks. */
  command(caller: Caller, command: Command, reason: string | undefined): Promise<Outcome<void>> {
    return attempt(async () => {
      const now = Date.now();
      this.#admission.message(await this.#lease(caller), now);
      const socket = this.#link.requireLive(now);
      this.#link.sendTo(socket, JSON.stringify(this.#systemCommand(command, reason)));
      console.info(`device ${this.#record().id} was sent ${command} by ${caller.grant}`);
    });
  }

  /** What the device reported, for a grant that may read it. */
  events(caller: Caller, { after, limit }: EventQuery): Promise<Outcome<EventList>> {
    return attempt(async () => {
      const lease = await this.#lease(caller);
      this.#admission.message(lease, Date.now());
      const refusal = eventRefusal(lease.scope);
      if (refusal) throw new MatrxError(refusal);
      const { id: device } = this.#record();
      return { device, events: this.#events.list(after, limit), dropped: this.#events.dropped };
    });
  }

  /** Answers of the device to calls that it was not given, since this object woke. */
  get strays(): number {
    return this.#calls.strays;
  }

  /** Event streams that somebody reads, or did not read to the end yet. */
  get openStreams(): number {
    return this.#streams.size;
  }

  /** Looks after what takes long or is over: acknowledgements, attachments, deadlines, a silent link. */
  lookAfter(now: number): void {
    if (!this.#store.record) return;
    this.#calls.flushAcks();
    this.#events.flush();
    this.#callers.settleDown(now);
    this.#sockets.settleDown(this.#rates, this.#calls.proof);
    if (this.#calls.flights.size > 0) this.#sockets.requireSigns(now);
    this.#recovery.sweep(now);
    this.#lookAgain(now);
  }

  #record(): DeviceRecord {
    const { record } = this.#store;
    if (!record) throw unknownDevice(this.ctx.id.name ?? "");
    return record;
  }

  /** Two accounts never meet, whatever the Worker believed. */
  #requireOwn(caller: Caller): DeviceRecord {
    const record = this.#record();
    if (record.account !== caller.account) throw unknownDevice(record.id);
    return record;
  }

  #view(record: DeviceRecord): DeviceView {
    const { proof } = this.#calls;
    const parts = { store: this.#store, link: this.#link, proof, alerts: this.#events.open };
    return deviceView(record, parts, Date.now());
  }

  #systemCommand(command: Command, reason: string | undefined): SystemCommand {
    return {
      type: "system_command",
      command,
      ...(reason !== undefined && { reason }),
      ...(command === "update_permissions" && { permissions: this.#store.permissions }),
    };
  }

  #event(event: DeviceEvent, now: number): void {
    try {
      if (this.#events.keep(event, now)) this.#callers.tellEvents(now);
    } finally {
      if (this.#events.isUnsaved) this.#timer.by(now + TIMES.settleAfter);
    }
  }

  async #lease(caller: Caller): Promise<Lease> {
    const { account, id } = this.#requireOwn(caller);
    return this.#leases.held(caller.grant, Date.now()) ?? (await this.#leases.ask(account, caller.grant, id));
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
    if (!current) return this.#recovery.linkDown(this.#store.farewell?.last_seen ?? Date.now());
    this.#rates = new Rates(current.rates);
    this.#calls.restoreProof(current.proof);
  }

  /** Calls under way are looked at soon; those that take long, by alarm, so that the object can sleep. */
  #lookAfterCalls(now: number): void {
    this.#timer.by(now + TIMES.settleAfter);
  }

  #lookAgain(now: number): void {
    const next = this.#recovery.nextSweep();
    if (next === undefined) {
      if (!this.#ledger.isEmpty()) void this.#alarm.by(now + PRUNE_EVERY);
      return;
    }
    const young = this.#calls.flights.all().some(({ call }) => now - callTime(call) < TIMES.settleAfter);
    if (young || next - now <= 2 * TIMES.settleAfter) this.#timer.by(Math.min(next, now + TIMES.settleAfter));
    else void this.#alarm.by(Math.min(next, now + LOOK_AGAIN));
  }
}
