/** One device: its own socket and its callers' sockets end here, and every call passes through. Delegates to `device/`. */
import type { StartedCall } from "@matrx/shared/activity.ts";
import type { DeviceView } from "@matrx/shared/api.ts";
import { EventStreams } from "@matrx/shared/caller/event-streams.ts";
import { CLOSE, closeReason, isSendable } from "@matrx/shared/close-codes.ts";
import type { ErrorShape } from "@matrx/shared/errors.ts";
import type { DeviceEvent } from "@matrx/shared/events.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { FollowedDevice } from "@matrx/shared/mcp/followed-device.ts";
import { OneDevice } from "@matrx/shared/mcp/host.ts";
import type { Caller } from "../auth/caller.ts";
import { EnabledFamilies } from "../mcp/enabled-families.ts";
import { McpEndpoints } from "../mcp/endpoints.ts";
import { isForMcp } from "../mcp/forward.ts";
import { ToolListeners } from "../mcp/listeners.ts";
import { attempt, type Outcome } from "../outcome.ts";
import { problemResponse } from "../problem.ts";
import { unknownDeviceError } from "../refusals.ts";
import { accountOf, authenticatedCaller } from "../socket.ts";
import { migrate } from "../storage/migrate.ts";
import { DEVICE } from "../storage/migrations.ts";
import { AccountNews } from "./account-news.ts";
import { DeviceApi, type Surfaces } from "./api.ts";
import { Approvals } from "./approvals/approvals.ts";
import { Admission } from "./callers/admission.ts";
import { BytesCalls } from "./callers/bytes.ts";
import { Followers } from "./callers/followers.ts";
import { RestCalls } from "./callers/rest.ts";
import type { CallerAttachment } from "./callers/session.ts";
import { Callers } from "./callers/sockets.ts";
import { Tickets } from "./callers/tickets.ts";
import { AnswerCredit } from "./calls/answer-credit.ts";
import { Calls } from "./calls/calls.ts";
import { ChangedRights } from "./calls/changed-rights.ts";
import { Recovery } from "./calls/recovery.ts";
import { Stopping } from "./calls/stopping.ts";
import { unwatchedCalls } from "./calls/unwatched.ts";
import type { DeviceAttachment } from "./connection.ts";
import { DeviceContext, type DeviceEnv } from "./context.ts";
import { type Lease, type LeasedGrant, revokedGrant, withdrawnGrant } from "./leases.ts";
import { DeviceMessages } from "./link/messages.ts";
import { DeviceSockets } from "./link/sockets.ts";
import { TakeOvers } from "./link/take-overs.ts";
import { Alerts } from "./observing/alerts.ts";
import { OwnCalls } from "./own-calls.ts";
import type { PauseNews } from "./pause.ts";
import type { DeviceRecord } from "./store.ts";
import { Upkeep } from "./upkeep.ts";

export class Device extends DeviceApi {
  protected readonly context: DeviceContext;
  protected readonly surfaces: Surfaces;
  readonly #tickets: Tickets;
  readonly #calls: Calls;
  readonly #rights: ChangedRights;
  readonly #stopping: Stopping;
  readonly #recovery: Recovery;
  readonly #approvals: Approvals;
  readonly #credit: AnswerCredit;
  readonly #rest: RestCalls;
  readonly #streams: EventStreams;
  readonly #callers: Callers;
  readonly #sockets: DeviceSockets;
  readonly #takeOvers: TakeOvers;
  readonly #alerts: Alerts;
  readonly #upkeep: Upkeep;
  readonly #mcp: McpEndpoints;
  readonly #listeners: ToolListeners;

  constructor(state: DurableObjectState, env: DeviceEnv) {
    super(state, env);
    state.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
    const context = new DeviceContext(state, env, {
      look: () => this.tick(Date.now()),
      auditBy: (at) => this.#upkeep.schedule("audit", at),
    });
    const { bodies } = context;
    const calls = new Calls(context, {
      settled: (call) => {
        this.#credit.settled(call);
        this.#approvals.settled(call);
      },
      left: (call, knowsName, now) => this.#approvals.left(call, knowsName, now),
      waitsAgain: (call, now) => this.#approvals.waitAgain(call, now),
    });
    const rights = new ChangedRights(context, calls);
    const recovery = new Recovery(context, calls);
    const schedule = (name: "approvals" | "outbox", at: number) => this.#upkeep.schedule(name, at);
    const news = new AccountNews(context, (at) => schedule("outbox", at));
    const approvals = new Approvals(context, { calls, news, schedule });
    const admission = new Admission(context, calls, approvals);
    const callers = new Callers(context, calls, admission);
    const queued = {
      of: (grant: GrantId) => callers.queuedOf(grant) + bodies.queuedOf(grant),
      total: () => callers.queued + bodies.queued,
    };
    const credit = new AnswerCredit({ calls, link: context.link, ledger: context.ledger, queued });
    bodies.onClosed = () => credit.look();
    const event = (event: DeviceEvent, now: number) => this.#event(event, now);
    const messages = new DeviceMessages(context, { calls, credit, recovery, approvals, event });
    const sockets = new DeviceSockets(context, { rights, credit, recovery, approvals, messages });
    const rest = new RestCalls(context, admission, calls);
    this.context = context;
    this.#tickets = new Tickets(context.storage.kv, context.health);
    this.#calls = calls;
    this.#rights = rights;
    this.#stopping = new Stopping(context, calls, rights);
    this.#recovery = recovery;
    this.#approvals = approvals;
    this.#credit = credit;
    this.#callers = callers;
    this.#sockets = sockets;
    this.#rest = rest;
    this.#streams = new EventStreams(bodies);
    const followers = new Followers(context, admission, calls, this.#streams);
    const bytes = new BytesCalls(context, rest);
    this.surfaces = { calls, rights, admission, approvals, rest, bytes, followers };
    this.#alerts = new Alerts(context.storage.kv, (alert, now) => news.alert(alert, now));
    const takeOvers = new TakeOvers(context.storage.kv, {
      report: event,
      lookBy: (at) => this.#upkeep.schedule("takeOvers", at),
    });
    this.#takeOvers = takeOvers;
    this.#upkeep = new Upkeep(context, {
      ...{ calls, recovery, approvals, news, credit, callers, sockets, messages, takeOvers },
    });
    this.#mcp = new McpEndpoints({
      enabled: new EnabledFamilies(context.storage.kv),
      hostFor: (caller, origin, chosen) => {
        const calls = new OwnCalls(context.name, this, caller);
        return new OneDevice(new FollowedDevice(calls, origin), chosen);
      },
    });
    this.#listeners = new ToolListeners(context.storage.kv, env.MCP);
    context.onToolsChanged = () => {
      this.#mcp.toolsChanged();
      this.#listeners.tell(Date.now());
    };
    context.leases.onPause = (pause) => this.#stopping.note(pause);
    context.leases.onChanged = (lease, former) => this.#grantChanged(lease, former);
    this.#restore();
  }

  /** MCP and upgrades: callers that the Worker has authenticated, and devices that have yet to prove themselves. */
  override async fetch(request: Request): Promise<Response> {
    try {
      const caller = authenticatedCaller(request);
      const record = await this.requireRecord(caller?.account ?? accountOf(request));
      if (!caller) return await this.#sockets.accept(request, record);
      if (isForMcp(request)) return await this.#serveMcp(request, caller);
      if (caller.ticket) this.#tickets.redeem(caller.ticket, record.id, Date.now());
      const response = await this.#callers.accept(request, caller, record);
      if (caller.guest) this.#upkeep.schedule("grants", caller.guest.until);
      return response;
    } catch (error) {
      return problemResponse(error);
    }
  }

  async #serveMcp(request: Request, caller: Caller): Promise<Response> {
    await this.admit(caller);
    return await this.#mcp.fetch(request, caller);
  }

  override webSocketMessage(ws: WebSocket, data: string | ArrayBuffer): void {
    const now = Date.now();
    if (!this.#sockets.message(ws, data, now)) this.#callers.message(ws, data, now);
  }

  /** The runtime does not answer a close frame on a hibernatable socket. */
  override webSocketClose(ws: WebSocket, code: number, reason: string): void {
    const gaveWay = code === CLOSE.replaced && this.#sockets.gaveWay(ws);
    this.#gone(ws);
    if (gaveWay) this.#takeOvers.note(Date.now());
    if (ws.readyState !== WebSocket.CLOSED) ws.close(isSendable(code) ? code : 1000, closeReason(reason));
  }

  override webSocketError(ws: WebSocket): void {
    this.#gone(ws);
  }

  override alarm(): Promise<void> {
    return this.#upkeep.ring(Date.now());
  }

  /** Ties this object to a device; only the Account calls this. */
  initialize(record: DeviceRecord): void {
    if (this.context.store.record) throw new Error(`${record.id} is adopted already`);
    migrate(this.ctx.storage, DEVICE);
    this.context.store.initialize(record);
  }

  /** The Account has checked that a person is asking. */
  describe(name: string, tags: string[]): void {
    this.context.store.describe(name, tags);
  }

  /** The account removed the device: delete everything. */
  async destroy(): Promise<void> {
    await this.context.audit.send(Date.now());
    this.#approvals.destroy();
    if (this.context.store.record)
      this.#rights.deviceRemoved(unknownDeviceError(this.context.store.record.id).shape());
    this.#sockets.closeAll(CLOSE.revoked, "The device was removed from its account");
    this.#callers.closeAll(CLOSE.unknownDevice, "The device was removed from its account");
    this.#mcp.close();
    await this.ctx.storage.deleteAll();
    this.context.store.destroy();
    this.context.pause.destroy();
    this.context.events.destroy();
  }

  /** A grant was revoked: its calls end and its sockets close. */
  revoke(grant: GrantId): void {
    this.context.leases.revoke(grant);
    this.#endGrant(grant, revokedGrant());
  }

  /** A guest's own session has ended, at its account: its sockets close. The share stays. */
  endVisit(session: GrantId): void {
    this.context.leases.revoke(session);
    this.#callers.endVisit(session, revokedGrant().message);
    this.context.streams.endGrant(session, revokedGrant());
    this.#streams.endVisit(session, revokedGrant());
    this.#rest.endVisit(session, revokedGrant());
    // Last, because it throws if the storage fails; then the Account tells it again.
    this.#mcp.revoke(session);
  }

  /** A grant is no longer for this device, since the version told: it ends here, until a newer one comes. */
  withdrawGrant(grant: GrantId, version: number): void {
    if (this.context.leases.withdraw(grant, version)) this.#endGrant(grant, withdrawnGrant());
  }

  /** A grant changed: open sockets continue under it, and calls on their way are held to it. Stale news is ignored. */
  changeGrant(leased: LeasedGrant): void {
    this.context.leases.change(leased, Date.now());
  }

  /** The account was paused or resumed. Throws if that cannot be kept; then the Account tells it again. */
  setPause(news: PauseNews): void {
    if (!this.context.store.record) return;
    this.#stopping.apply(news);
    // What happened meanwhile.
    if (!news.paused) this.#callers.tellEvents(Date.now());
  }

  /** The Account has checked that a person is asking. Returns how many calls had not ended. */
  cancelCalls(account: string, grant: GrantId | undefined): number {
    return this.context.store.record?.account === account ? this.#stopping.cancelCalls(grant) : 0;
  }

  #grantChanged(lease: Lease, former: Lease | undefined): void {
    this.#rights.grantChanged(lease, former, Date.now());
    this.#mcp.toolsChanged();
    if (this.#callers.changeGrant(lease)) this.#upkeep.schedule("grants", lease.expires);
    this.context.streams.rightsChanged();
  }

  /** Whom the end of a grant must reach here; its account has such a list of its own (`account/ended-grants.ts`). */
  #endGrant(grant: GrantId, why: ErrorShape): void {
    if (this.context.store.record) {
      this.#rights.revoke(grant, why);
      this.#approvals.revoke(grant);
    }
    this.#callers.revoke(grant, why.message);
    this.#streams.revoke(grant, why);
    this.#mcp.revoke(grant);
    // Last, because it throws if the storage fails; then the Account tells it again.
    this.#rights.tellEnded(grant);
  }

  /** For the account's own device list; the grant was checked there. */
  view(account: string): DeviceView | undefined {
    const record = this.context.store.record;
    if (record?.account !== account) return undefined;
    return this.viewOf(record);
  }

  /** MCP clients of `listener`, as this caller here, listen to all its devices until then, in milliseconds since 1970. */
  listenForTools(caller: Caller, listener: GrantId, until: number): Promise<Outcome<void>> {
    return attempt(async () => {
      await this.admit(caller);
      this.#listeners.add(listener, until, Date.now());
    });
  }

  /** Writes on behalf of an object that no longer can; resolves once the write is confirmed. */
  probeStorage(): void {
    this.ctx.storage.kv.put("probed", Date.now());
  }

  /** Tells the Account of each call until then, in milliseconds since 1970. Returns what runs now. */
  watch(until: number): StartedCall[] {
    if (!this.context.store.record) return [];
    this.context.activity.watch(until);
    const { pendingCalls } = this.#calls;
    const isDue = ({ deadline }: { deadline: number }) => deadline + TIMES.deadlineGrace > Date.now();
    const unwatched = unwatchedCalls(this.context.ledger, pendingCalls).filter(isDue);
    return this.context.observer.running([...pendingCalls.all(), ...unwatched]);
  }

  /** What is in flight, and counters since this object woke. */
  diagnostics() {
    return {
      /** Recipients waiting for the answer to a call. */
      recipients: this.#calls.pendingCalls.all().flatMap(({ recipients }) => recipients).length,
      /** Bytes of answers that HTTP readers have not taken yet. */
      queuedBytes: this.context.bodies.queued,
      /** Large answers that wait on the device for their readers. */
      waitingAnswers: this.#credit.waiting,
      /** Event streams that have not been read to the end. */
      openStreams: this.#streams.size,
      /** Answers from the device to calls that it was never sent. */
      strays: this.#calls.strays.total,
    };
  }

  /** Handles slow calls, and whatever has expired. */
  tick(now: number): void {
    this.#upkeep.tick(now);
  }

  #event(event: DeviceEvent, now: number): void {
    try {
      const kept = this.context.events.keep(event, now);
      if (!kept) return;
      this.#callers.tellEvents(now);
      this.#alerts.note(event, kept, now);
    } finally {
      if (this.context.events.isUnsaved) this.context.timer.by(now + TIMES.settleAfter);
    }
  }

  /** Called once per socket. A socket that dropped during hibernation is seen here first: `#restore` does not find it. */
  #gone(ws: WebSocket): void {
    const attachment = ws.deserializeAttachment() as DeviceAttachment | CallerAttachment | null;
    if (attachment?.role === "caller") this.#callers.closed(ws, attachment);
    else if (attachment) this.#sockets.closed(ws, attachment, Date.now());
  }

  /** After hibernation, all state comes from the sockets' attachments, but for calls that wait for a person. */
  #restore(): void {
    const devices: { ws: WebSocket; attachment: DeviceAttachment }[] = [];
    this.#approvals.restore();
    if (this.context.store.record) this.context.audit.restore(Date.now());
    for (const ws of this.ctx.getWebSockets()) {
      const attachment = ws.deserializeAttachment() as DeviceAttachment | CallerAttachment | null;
      if (attachment?.role === "caller") this.#callers.restore(ws, attachment);
      else if (attachment) devices.push({ ws, attachment });
    }
    this.#sockets.restore(devices);
    const { link, rates, store } = this.context;
    const current = link.current?.attachment;
    rates.restore(current?.rates ?? [], store.rates, Date.now());
    if (!current) return this.#recovery.linkDown(store.lastSeen?.last_seen ?? Date.now());
    if (current.proof) this.context.proof.restore(current.proof);
  }
}
