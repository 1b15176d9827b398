/** All caller sockets of a device: accepting, restoring after hibernation, leasing, revoking, closing. */
import { chooseSubprotocol, offeredSubprotocols, requestedSession } from "@matrx/shared/caller/upgrade.ts";
import { CLOSE, closeReason } from "@matrx/shared/close-codes.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import { eventRefusal } from "@matrx/shared/events.ts";
import { type AccountId, callTime, type GrantId } from "@matrx/shared/ids.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import { AUDIENCE, SESSION_HEADER, SUBPROTOCOL } from "@matrx/shared/tokens.ts";
import type { Caller } from "../../auth/caller.ts";
import { unauthenticated, verifySignature } from "../../auth/keys.ts";
import { requireKept } from "../../auth/token-hash.ts";
import { logWarning } from "../../log.ts";
import { MessageBuffer, queuedBytes, switching } from "../../socket.ts";
import type { Calls } from "../calls/calls.ts";
import type { DeviceContext } from "../context.ts";
import { isLive, keptLease, type Lease, wantsRenewal } from "../leases.ts";
import { callApprovalOf } from "../ledger/approval-rows.ts";
import type { PendingCall } from "../ledger/call.ts";
import type { DeviceRecord } from "../store.ts";
import type { Streams } from "../streams/streams.ts";
import type { Admission } from "./admission.ts";
import { type CallerAttachment, CallerSession, type SessionHost, type SocketRecipient } from "./session.ts";

export class Callers implements SessionHost {
  readonly admission: Admission;
  readonly calls: Calls;
  readonly #sessions = new Map<WebSocket, CallerSession>();
  readonly #context: DeviceContext;

  constructor(context: DeviceContext, calls: Calls, admission: Admission) {
    this.#context = context;
    this.calls = calls;
    this.admission = admission;
  }

  callStarted(now: number): void {
    this.#context.callStarted(now);
  }

  get streams(): Streams {
    return this.#context.streams;
  }

  /** Restores a socket after hibernation, with its lease and unanswered calls. */
  restore(ws: WebSocket, attachment: CallerAttachment): CallerSession {
    const session = new CallerSession(ws, attachment, this);
    this.#sessions.set(ws, session);
    // A socket closed by us may still be listed. Its grant may be revoked, so its lease is not restored.
    if (ws.readyState === WebSocket.OPEN) this.#context.leases.restore(session.lease);
    for (const recipient of session.protocol.unanswered.values()) this.#resume(session, recipient);
    return session;
  }

  /** The call's own caller comes first in whatever order sockets are restored: the device answers under its id. */
  #resume(session: CallerSession, recipient: SocketRecipient): void {
    const pending = this.calls.pendingCalls.get(recipient.call) ?? this.#pendingOf(session, recipient);
    if (recipient.follows) {
      pending.recipients.push(recipient);
    } else {
      pending.recipients.unshift(recipient);
      pending.id = recipient.id;
    }
  }

  #pendingOf({ lease }: CallerSession, { call, deadline, onClose }: SocketRecipient): PendingCall {
    const grant = lease.scope.id as GrantId;
    const row = this.#context.ledger.find(call);
    const effect = onClose === "read" ? "read" : "execute";
    const pending: PendingCall = {
      ...{ call, tool: row?.tool ?? "", effect, grant, created: callTime(call), missed: 0 },
      // A call that waited for a person has its whole time since it was sent.
      deadline: row?.state === "accepted" ? row.deadline : deadline,
      // A read has a row if a person was asked about it.
      ...{ recipients: [], phase: "in_doubt", recorded: row !== undefined || effect !== "read" },
      approval: row && callApprovalOf(this.#context.approvals.ofCall(call)),
    };
    this.calls.pendingCalls.add(pending);
    return pending;
  }

  /** Accepts a caller that the Worker has authenticated. Throws MatrxError if the Account refuses. */
  async accept(request: Request, caller: Caller, record: DeviceRecord): Promise<Response> {
    const lease =
      this.#context.leases.current(caller.grant, Date.now()) ??
      (await this.#context.leases.ask(record.account, caller.grant, record.id));
    if (caller.guest) this.#context.leases.requireNotRevoked(caller.guest.grant);
    const [client, server] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
    const protocol = chooseSubprotocol(offeredSubprotocols(request.headers.get("Sec-WebSocket-Protocol")));
    const attachment: CallerAttachment = {
      role: "caller",
      session: requestedSession(new URL(request.url), "relay"),
      device: record.id,
      account: record.account,
      lease: keptLease(lease),
      expires: caller.expires,
      ...(caller.guest && { guest: caller.guest }),
      v1: protocol !== undefined,
      binary: protocol === SUBPROTOCOL.binary,
      events: null,
      unanswered: [],
    };
    const session = new CallerSession(server, attachment, this);
    session.lease = lease;
    this.#context.state.acceptWebSocket(server, ["caller"]);
    session.save();
    this.#sessions.set(server, session);
    session.protocol.greet(session.id, record.id);
    return switching(client, {
      [SESSION_HEADER]: session.id,
      ...(protocol && { "Sec-WebSocket-Protocol": protocol }),
    });
  }

  /** Handles a caller's message. */
  message(ws: WebSocket, data: string | ArrayBuffer, now: number): void {
    const session = this.#sessions.get(ws);
    // Ignore messages after the relay closed the socket: the grant may be revoked.
    if (!session || ws.readyState !== WebSocket.OPEN) return;
    if (session.waiting) return this.#keepWaiting(session, session.waiting, data);
    const { lease } = session;
    if (!isLive(lease, now)) {
      session.waiting = new MessageBuffer(LIMITS.unansweredPerSession);
      this.#keepWaiting(session, session.waiting, data);
      void this.#renewLease(session);
      return;
    }
    if (wantsRenewal(lease, now)) void this.#renewLease(session);
    session.protocol.message(data, now);
  }

  closed(ws: WebSocket, attachment: CallerAttachment): void {
    const session = this.#sessions.get(ws) ?? this.restore(ws, attachment);
    ws.serializeAttachment(null);
    this.#sessions.delete(ws);
    session.closed();
  }

  /** Closes the sockets of a grant that was revoked, or withdrawn from this device. */
  revoke(grant: GrantId, why: string): void {
    for (const [ws, session] of this.#sessions) {
      if (session.lease.scope.id === grant) ws.close(CLOSE.revoked, why);
    }
  }

  /** Closes the sockets of a guest's session. */
  endVisit(session: GrantId, why: string): void {
    for (const [ws, { guest }] of this.#sessions) {
      if (guest?.grant === session) ws.close(CLOSE.revoked, why);
    }
  }

  /** Open sockets continue under the grant as it is now. Returns whether there are any. */
  changeGrant(lease: Lease): boolean {
    const sessions = [...this.#sessions.values()].filter(
      (one) => one.lease.scope.id === lease.scope.id && one.lease.version < lease.version,
    );
    const refusal = eventRefusal(lease.scope);
    for (const session of sessions) {
      session.lease = lease;
      if (refusal && session.eventsUntil !== null) session.endEvents(refusal);
      session.save();
    }
    return sessions.length > 0;
  }

  /** Closes the sockets of grants and guests' sessions that have expired. Returns when the next one does, in milliseconds since 1970. */
  closeExpired(now: number): number | undefined {
    const expiries: number[] = [];
    for (const { ws, lease, guest } of this.#sessions.values()) {
      const expires = Math.min(lease.expires, guest?.until ?? Number.POSITIVE_INFINITY);
      if (expires <= now) ws.close(CLOSE.revoked, "The token has expired");
      else expiries.push(expires);
    }
    return expiries.length > 0 ? Math.min(...expiries) : undefined;
  }

  /** Bytes queued for a grant. Closing a slow reader's socket does not free its queue, so all sockets of a grant share a bound. */
  queuedOf(grant: string): number {
    let bytes = 0;
    for (const { ws, lease } of this.#sessions.values())
      if (lease.scope.id === grant) bytes += queuedBytes(ws);
    return bytes;
  }

  /** Bytes queued on all sockets. */
  get queued(): number {
    let bytes = 0;
    for (const ws of this.#sessions.keys()) bytes += queuedBytes(ws);
    return bytes;
  }

  closeAll(code: number, reason: string): void {
    for (const ws of this.#sessions.keys()) ws.close(code, reason);
  }

  /** Stores calls older than five seconds. */
  persist(now: number): void {
    for (const session of this.#sessions.values()) session.persist(now);
  }

  /** Subscribes a caller to events from now on, or to those after one that it has. Throws MatrxError. */
  subscribeToEvents(session: CallerSession, after: string | undefined, now: number): void {
    const refusal = eventRefusal(session.lease.scope);
    if (refusal) throw new MatrxError(refusal);
    session.eventsUntil = after === undefined ? this.#context.events.end : this.#context.events.seqOf(after);
    session.save();
    this.#tellEvents(session, now);
  }

  /** Sends new events to all subscribers. */
  tellEvents(now: number): void {
    for (const session of this.#sessions.values()) this.#tellEvents(session, now);
  }

  /** A session whose token or lease has expired, or whose grant is paused, gets its events afterwards. */
  #tellEvents(session: CallerSession, now: number): void {
    if (session.eventsUntil === null || session.expires <= now) return;
    if (this.#context.pause.isClosedTo(session.lease.scope)) return;
    if (!isLive(session.lease, now)) return void this.#renewLease(session);
    const events = this.#context.events.since(session.eventsUntil);
    for (const { seq, event } of events) {
      session.protocol.send({ type: "event", device: session.device, event });
      session.eventsUntil = seq;
    }
    if (events.length > 0) session.save();
  }

  /** Continues with a new token of the same grant. Throws MatrxError. */
  async renew(session: CallerSession, token: string): Promise<void> {
    const claims = await verifySignature(this.#context.env, AUDIENCE.caller, token);
    const { account, subject, expires } = claims;
    const own = session.guest ?? { account: session.account, grant: session.lease.scope.id };
    if (account !== own.account || subject !== own.grant)
      throw new MatrxError(
        unauthenticated("The token belongs to another grant", "Open a separate connection for it"),
      );
    await requireKept(claims, (hash) =>
      this.#context.env.ACCOUNT.getByName(account).keepsToken(subject as GrantId, hash),
    );
    session.expires = expires;
    session.save();
    session.protocol.send({ type: "authenticated", expires: new Date(expires).toISOString() });
    this.#tellEvents(session, Date.now());
  }

  /** Messages wait in order while the Account is asked. If it refuses, or does not respond before the lease expires, the socket closes. */
  async #renewLease(session: CallerSession): Promise<void> {
    const { scope } = session.lease;
    try {
      session.lease = await this.#context.leases.ask(
        session.account as AccountId,
        scope.id as GrantId,
        session.device,
      );
      session.save();
    } catch (error) {
      const saysNo = error instanceof MatrxError;
      if (!saysNo && isLive(session.lease, Date.now()))
        return logWarning("lease not renewed, but still valid", error);
      session.ws.close(CLOSE.revoked, closeReason(saysNo ? error.message : "The account does not respond"));
      return;
    }
    const waiting = session.waiting?.messages ?? [];
    session.waiting = undefined;
    for (const data of waiting) this.message(session.ws, data, Date.now());
    this.#tellEvents(session, Date.now());
  }

  #keepWaiting({ ws }: CallerSession, waiting: MessageBuffer, data: string | ArrayBuffer): void {
    if (!waiting.push(data)) ws.close(CLOSE.tooSlow, "Too many messages are waiting");
  }
}
