/** The account link: what a person's open screens are told, whichever device it is about. Sockets hibernate. */

import { personActionSchema, type ToPerson } from "@matrx/shared/account-frames.ts";
import type { ActivityEntry } from "@matrx/shared/activity.ts";
import { chooseSubprotocol, offeredSubprotocols } from "@matrx/shared/caller/upgrade.ts";
import { CLOSE } from "@matrx/shared/close-codes.ts";
import { MatrxError, relayError } from "@matrx/shared/errors.ts";
import type { AccountId, GrantId } from "@matrx/shared/ids.ts";
import { check, parseJsonObject } from "@matrx/shared/json-input.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import { AUDIENCE } from "@matrx/shared/tokens.ts";
import type { Caller } from "../auth/caller.ts";
import { unauthenticated, verifyToken } from "../auth/keys.ts";
import { errorShapeOf } from "../problem.ts";
import type { Secrets } from "../secrets.ts";
import { queuedBytes, switching } from "../socket.ts";

interface PersonAttachment {
  account: AccountId;
  grant: GrantId;
  /** When token or grant expires, in milliseconds since 1970. */
  expires: number;
  /** Until when it watches calls, in milliseconds since 1970. */
  watching?: number;
}

/** A screen that watches is not asked for again before this time has passed, in milliseconds. */
const WATCH_EVERY = 5_000;

export class PersonSockets {
  readonly #state: DurableObjectState;
  readonly #secrets: Secrets;
  /** Entries that slow readers were not sent. */
  readonly #missed = new WeakMap<WebSocket, number>();

  /** A screen asks to be sent calls. */
  onWatch: (screen: WebSocket, now: number) => Promise<void> = async () => undefined;

  constructor(state: DurableObjectState, secrets: Secrets) {
    this.#state = state;
    this.#secrets = secrets;
  }

  /** Opens a link, and sends its first frames. Throws MatrxError `RATE_LIMITED`. */
  accept(request: Request, caller: Caller, first: readonly ToPerson[], now: number): Response {
    const open = this.#state.getWebSockets();
    for (const ws of open) this.#live(ws, now);
    if (open.filter(isOpen).length >= LIMITS.accountSockets) throw tooManyLinks();
    const [client, server] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
    const { account, grant, expires } = caller;
    this.#state.acceptWebSocket(server, [grant]);
    server.serializeAttachment({ account, grant, expires } satisfies PersonAttachment);
    for (const frame of first) send(server, frame);
    const protocol = chooseSubprotocol(offeredSubprotocols(request.headers.get("Sec-WebSocket-Protocol")));
    return switching(client, protocol ? { "Sec-WebSocket-Protocol": protocol } : {});
  }

  /** A person's screen asks for a sign of life, or goes on with another token. */
  async message(ws: WebSocket, data: string | ArrayBuffer, now: number): Promise<void> {
    if (!isOpen(ws) || !this.#live(ws, now)) return;
    try {
      if (typeof data !== "string") throw notText();
      const action = check(personActionSchema, parseJsonObject(data, LIMITS.openBodyBytes));
      if (action.action === "auth") await this.#renew(ws, action.token);
      else if (action.action === "watch") await this.onWatch(ws, now);
      else send(ws, { type: "pong" });
    } catch (error) {
      const { code, message: output, hint, hop } = errorShapeOf(error);
      send(ws, { type: "error", output, code, ...(hint && { hint }), hop });
    }
  }

  tell(frame: ToPerson, now: number): void {
    for (const ws of this.#state.getWebSockets()) if (isOpen(ws) && this.#live(ws, now)) send(ws, frame);
  }

  /** To a screen that may have closed meanwhile. */
  tellOne(ws: WebSocket, frame: ToPerson): void {
    if (isOpen(ws)) send(ws, frame);
  }

  /** The screen watches until then. Returns false if it asked only just before. */
  watch(ws: WebSocket, until: number): boolean {
    const attachment = ws.deserializeAttachment() as PersonAttachment;
    const isNew = until - (attachment.watching ?? 0) >= WATCH_EVERY;
    if (isNew) ws.serializeAttachment({ ...attachment, watching: until } satisfies PersonAttachment);
    send(ws, { type: "watching", until: new Date(isNew ? until : (attachment.watching ?? 0)).toISOString() });
    return isNew;
  }

  /** Sends calls to the screens that watch; those that read too slowly miss some. */
  tellWatchers(entries: ActivityEntry[], now: number): void {
    for (const ws of this.#state.getWebSockets()) {
      const { watching = 0 } = ws.deserializeAttachment() as PersonAttachment;
      if (watching <= now || !isOpen(ws) || !this.#live(ws, now)) continue;
      const missed = this.#missed.get(ws) ?? 0;
      const isBehind = queuedBytes(ws) > LIMITS.streamQueueBytes;
      this.#missed.set(ws, isBehind ? missed + entries.length : 0);
      if (!isBehind) send(ws, { type: "activity", entries, ...(missed > 0 && { missed }) });
    }
  }

  /** The grant was revoked, or its person signed out. */
  revoke(grant: GrantId): void {
    for (const ws of this.#state.getWebSockets(grant)) ws.close(CLOSE.revoked, "The token was revoked");
  }

  /** Throws MatrxError `UNAUTHENTICATED`. */
  async #renew(ws: WebSocket, token: string): Promise<void> {
    const attachment = ws.deserializeAttachment() as PersonAttachment;
    const { account, subject, expires } = await verifyToken(this.#secrets, AUDIENCE.caller, token);
    if (account !== attachment.account || subject !== attachment.grant)
      throw new MatrxError(
        unauthenticated("The token belongs to another session", "Open a separate link for it"),
      );
    if (!isOpen(ws)) return;
    ws.serializeAttachment({ ...attachment, expires } satisfies PersonAttachment);
    send(ws, { type: "authenticated", expires: new Date(expires).toISOString() });
  }

  /** Closes a link whose token has expired. */
  #live(ws: WebSocket, now: number): boolean {
    const { expires } = ws.deserializeAttachment() as PersonAttachment;
    if (expires > now) return true;
    ws.close(CLOSE.unauthenticated, "The token has expired");
    return false;
  }
}

function isOpen(ws: WebSocket): boolean {
  return ws.readyState === WebSocket.OPEN;
}

function send(ws: WebSocket, frame: ToPerson): void {
  if (queuedBytes(ws) > LIMITS.callerQueueBytes) return ws.close(CLOSE.tooSlow, "You read too slowly");
  ws.send(JSON.stringify(frame));
}

function notText(): MatrxError {
  return relayError("INVALID_MESSAGE", "This link takes text frames only", {
    hint: 'Send {"action":"ping"}',
  });
}

function tooManyLinks(): MatrxError {
  const limit = LIMITS.accountSockets;
  return relayError("RATE_LIMITED", `This account already has ${limit} open account links`, {
    hint: "Close some first",
    details: { limit },
  });
}
