/** The caller's socket (guide, WebSocket Protocol): reads frames, admits calls, answers. */
import { refusalAnswer } from "@matrx/shared/caller/answers.ts";
import { type Action, type Call, parseCallerFrame } from "@matrx/shared/caller-frames.ts";
import { type ErrorShape, MatrxError } from "@matrx/shared/errors.ts";
import { type CallId, makeCallId } from "@matrx/shared/ids.ts";
import { errorShapeOf } from "../../problem.ts";
import type { Admission } from "../calls/admission.ts";
import type { Calls } from "../calls/calls.ts";
import type { CallerSession } from "./session.ts";

export interface CallerLinkParts {
  admission: Admission;
  calls: Calls;
  /** Goes on with a new token on this socket, and says so. Rejects with MatrxError. */
  renew: (session: CallerSession, token: string) => Promise<void>;
  /** Gives events to this socket. Throws MatrxError. */
  subscribeToEvents: (session: CallerSession, after: string | undefined, now: number) => void;
  /** Work was begun that needs a look later. */
  scheduled: (now: number) => void;
}

export class CallerLink {
  readonly #parts: CallerLinkParts;

  constructor(parts: CallerLinkParts) {
    this.#parts = parts;
  }

  /** One message of a caller; its lease holds. Never throws. */
  message(session: CallerSession, data: string | ArrayBuffer, now: number): void {
    let id: string | undefined;
    try {
      if (typeof data !== "string") throw notText();
      const message = parseCallerFrame(data);
      if (message.kind === "action") return this.#act(session, message.action, now);
      id = message.call.id ?? makeCallId(now);
      this.#parts.admission.message(session.lease, now);
      requireUnexpired(session, now);
      this.#call(session, message.call, id, now);
    } catch (error) {
      this.#refuse(session, id, errorShapeOf(error));
    }
  }

  /** The caller is gone: reads stop, effects go on unless their caller asked otherwise. */
  closed(session: CallerSession): void {
    for (const [, call, , onClose] of session.unanswered()) {
      this.#parts.calls.abandon(call, ({ socket }) => socket === session.ws, onClose !== "goes_on");
    }
  }

  #call(session: CallerSession, call: Call, id: string, now: number): void {
    session.requireRoomFor(id);
    this.#parts.admission.admit(
      {
        tool: call.tool,
        parameters: JSON.stringify(call.input),
        lease: session.lease,
        id,
        session: session.id,
        timeoutMs: call.timeout_ms,
        stream: call.stream,
        key: call.idempotency_key,
      },
      now,
      (callId, deadline, effect) => {
        const onClose = effect === "read" ? "read" : call.cancel_on_disconnect ? "stops" : "goes_on";
        if (session.v1 && effect !== "read") session.send({ id, type: "accepted", call: callId });
        return session.expect(id, callId, deadline, onClose);
      },
    );
    this.#parts.scheduled(now);
  }

  #act(session: CallerSession, action: Action, now: number): void {
    this.#parts.admission.message(session.lease, now);
    if (action.action !== "auth") requireUnexpired(session, now);
    switch (action.action) {
      case "ping":
        return session.send({ type: "pong" });
      case "cancel":
        return this.#cancel(session.callOf(action.id));
      case "cancel_all":
        for (const [, call] of session.unanswered()) this.#cancel(call);
        return;
      case "auth":
        return void this.#renew(session, action.token);
      case "events":
        this.#parts.subscribeToEvents(session, action.after, now);
    }
  }

  #cancel(call: CallId | undefined): void {
    if (call) this.#parts.calls.cancel(call);
  }

  async #renew(session: CallerSession, token: string): Promise<void> {
    try {
      await this.#parts.renew(session, token);
    } catch (error) {
      this.#refuse(session, undefined, errorShapeOf(error));
    }
  }

  #refuse(session: CallerSession, id: string | undefined, error: ErrorShape): void {
    const named = id ?? (typeof error.details?.id === "string" ? error.details.id : undefined);
    if (named !== undefined) return session.send(refusalAnswer(error, named));
    const { message: output, code, hint, hop } = error;
    session.send({ id: null, type: "error", output, code, ...(hint && { hint }), hop });
  }
}

function requireUnexpired(session: CallerSession, now: number): void {
  if (session.expires > now) return;
  throw new MatrxError({
    code: "UNAUTHENTICATED",
    message: "This connection's token has expired",
    hint: 'Send {"action":"auth","token":"<new token>"}, or connect again',
    hop: "relay",
  });
}

function notText(): MatrxError {
  return new MatrxError({
    code: "INVALID_MESSAGE",
    message: "Callers must send text frames",
    hint: 'Send JSON as text, such as {"id":"1","tool":"SystemInfo","input":{}}',
    hop: "relay",
  });
}
