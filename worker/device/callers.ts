/** All callers' sockets of a device: accepted, restored after a sleep, leased, revoked, closed. */
import { CLOSE } from "@matrx/shared/close-codes.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import {
  type AccountId,
  type GrantId,
  isSessionId,
  makeSessionId,
  type SessionId,
} from "@matrx/shared/ids.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import { AUDIENCE, SESSION_HEADER, SUBPROTOCOL } from "@matrx/shared/tokens.ts";
import type { Caller } from "../auth/caller.ts";
import { unauthenticated, verifyToken } from "../auth/keys.ts";
import type { Secrets } from "../secrets.ts";
import type { CallerLink } from "./caller-link.ts";
import { type CallerAttachment, CallerSession } from "./caller-session.ts";
import { type Calls, follow } from "./calls.ts";
import { isLive, type Leases, wantsRenewal } from "./leases.ts";
import type { DeviceRecord } from "./record.ts";
import { chooseSubprotocol, switching } from "./upgrade.ts";

export class Callers {
  readonly #sessions = new Map<WebSocket, CallerSession>();
  readonly #state: DurableObjectState;
  readonly #secrets: Secrets;
  readonly #leases: Leases;
  readonly #calls: Calls;
  readonly #link: CallerLink;

  constructor(state: DurableObjectState, secrets: Secrets, leases: Leases, calls: Calls, link: CallerLink) {
    this.#state = state;
    this.#secrets = secrets;
    this.#leases = leases;
    this.#calls = calls;
    this.#link = link;
  }

  /** After a sleep: sockets, leases, and the calls that wait for an answer. */
  restore(ws: WebSocket, attachment: CallerAttachment): void {
    const session = new CallerSession(ws, attachment);
    this.#sessions.set(ws, session);
    this.#leases.restore(attachment.lease);
    for (const [id, call, deadline, onClose] of attachment.unanswered) {
      const recipient = session.recipientOf(id);
      const shared = this.#calls.flights.get(call);
      if (shared) {
        follow(shared, recipient, id);
        continue;
      }
      const ledgered = onClose !== "read";
      const grant = attachment.lease.scope.id as GrantId;
      const effect = ledgered ? "execute" : "read";
      this.#calls.flights.add({
        call,
        tool: "",
        id,
        effect,
        grant,
        created: 0,
        deadline,
        ledgered,
        recipients: [recipient],
        missed: 0,
      });
    }
  }

  /** Accepts a caller that the Worker vouches for. Throws MatrxError when the Account says no. */
  async accept(request: Request, caller: Caller, record: DeviceRecord): Promise<Response> {
    const lease =
      this.#leases.held(caller.grant, Date.now()) ??
      (await this.#leases.ask(record.account, caller.grant, record.id));
    const [client, server] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
    const protocol = chooseSubprotocol(request);
    const session = new CallerSession(server, {
      role: "caller",
      session: sessionOf(request),
      device: record.id,
      account: record.account,
      lease,
      expires: caller.expires,
      v1: protocol !== undefined,
      binary: protocol === SUBPROTOCOL.binary,
      unanswered: [],
    });
    this.#state.acceptWebSocket(server, ["caller"]);
    session.save();
    this.#sessions.set(server, session);
    if (session.v1) session.send({ type: "hello", protocol: 1, session: session.id, device: record.id });
    return switching(client, {
      [SESSION_HEADER]: session.id,
      ...(protocol && { "Sec-WebSocket-Protocol": protocol }),
    });
  }

  /** A message of a caller; undefined: it was not a caller's socket. */
  message(ws: WebSocket, data: string | ArrayBuffer, now: number): void {
    const session = this.#sessions.get(ws);
    if (!session) return;
    if (session.held) return this.#hold(session, data);
    const { lease } = session;
    if (!isLive(lease, now)) {
      session.held = [data];
      void this.#renewLease(session);
      return;
    }
    if (wantsRenewal(lease, now)) void this.#renewLease(session);
    this.#link.message(session, data, now);
  }

  closed(ws: WebSocket): void {
    const session = this.#sessions.get(ws);
    if (!session) return;
    this.#sessions.delete(ws);
    this.#link.closed(session);
  }

  /** Closes the sockets of a grant that is gone. */
  revoke(grant: GrantId): void {
    for (const [ws, session] of this.#sessions) {
      if (session.lease.scope.id === grant) ws.close(CLOSE.revoked, "The token was revoked");
    }
  }

  closeAll(code: number, reason: string): void {
    for (const ws of this.#sessions.keys()) ws.close(code, reason);
  }

  /** Writes calls older than five seconds down. */
  settleDown(now: number): void {
    for (const session of this.#sessions.values()) session.settleDown(now);
  }

  /** A new token of the same grant. Throws MatrxError. */
  async renew(session: CallerSession, token: string): Promise<number> {
    const { account, subject, expires } = await verifyToken(this.#secrets, AUDIENCE.caller, token);
    if (account === session.account && subject === session.lease.scope.id) return expires;
    throw new MatrxError(
      unauthenticated("The token is of another grant", "Open another connection for another token"),
    );
  }

  /** Messages wait in order while the Account is asked; when it says no, or nothing, the socket closes. */
  async #renewLease(session: CallerSession): Promise<void> {
    const { scope } = session.lease;
    try {
      session.lease = await this.#leases.ask(
        session.account as AccountId,
        scope.id as GrantId,
        session.device,
      );
      session.save();
    } catch (error) {
      if (isLive(session.lease, Date.now())) return console.warn("lease not renewed, it still holds", error);
      session.ws.close(
        CLOSE.revoked,
        error instanceof MatrxError ? error.message : "The account does not answer",
      );
      return;
    }
    const held = session.held ?? [];
    session.held = undefined;
    for (const data of held) this.#link.message(session, data, Date.now());
  }

  #hold(session: CallerSession, data: string | ArrayBuffer): void {
    session.held?.push(data);
    if ((session.held?.length ?? 0) > LIMITS.unansweredPerSession)
      session.ws.close(CLOSE.tooSlow, "Too many messages wait");
  }
}

/** The session that a caller resumes, or a new one. Throws MatrxError `INVALID_PARAMETERS`. */
function sessionOf(request: Request): SessionId {
  const wanted = new URL(request.url).searchParams.get("session");
  if (wanted === null) return makeSessionId();
  if (isSessionId(wanted)) return wanted;
  throw new MatrxError({
    code: "INVALID_PARAMETERS",
    message: "session: must be 16 hexadecimal digits",
    hint: "Leave it out for a new session; the response header Matrx-Session names it",
    hop: "relay",
    details: { field: "session" },
  });
}
