/** One WebSocket of a local caller (guide, WebSocket Protocol). */
import type { IncomingMessage } from "node:http";
import type { ErrorFrame, ToCaller } from "@matrx/shared/caller/to-caller.ts";
import { type Action, type Call, parseCallerFrame } from "@matrx/shared/caller-frames.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import { isSessionId, makeCallId, makeSessionId } from "@matrx/shared/ids.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import { SUBPROTOCOL } from "@matrx/shared/tokens.ts";
import type { WebSocket } from "ws";
import { errorOutcome } from "../core/answers.ts";
import { ByteBudget } from "../core/byte-budget.ts";
import type { CallRequest } from "../core/dispatcher.ts";
import type { OutputPiece } from "../core/live-output.ts";
import { endsWithCaller, type LocalCalls } from "./local-calls.ts";

interface Unanswered {
  call: string;
  endsWithCaller: boolean;
}

/** Serves a caller's connection until it closes. */
export function serveSocket(socket: WebSocket, request: IncomingMessage, calls: LocalCalls): void {
  const connection = new CallerConnection(socket, sessionOf(request), calls);
  socket.on("message", (data, isBinary) => connection.receive(data as Buffer, isBinary));
  socket.on("close", () => connection.gone());
  socket.on("error", () => socket.terminate());
}

class CallerConnection {
  readonly #socket: WebSocket;
  readonly #session: string;
  readonly #calls: LocalCalls;
  readonly #unanswered = new Map<string, Unanswered>();
  /** Large answers that are made or not read yet. */
  readonly #unread = new ByteBudget(LIMITS.callerAnswersBytes);

  constructor(socket: WebSocket, session: string, calls: LocalCalls) {
    this.#socket = socket;
    this.#session = session;
    this.#calls = calls;
    if (socket.protocol === SUBPROTOCOL.v1) {
      this.#send({ type: "hello", protocol: 1, session, device: calls.device });
    }
  }

  receive(data: Buffer, isBinary: boolean): void {
    try {
      if (isBinary) throw binaryFrame();
      const message = parseCallerFrame(data.toString());
      if (message.kind === "call") this.#call(message.call);
      else this.#act(message.action);
    } catch (error) {
      this.#refuse(error);
    }
  }

  gone(): void {
    for (const { call, endsWithCaller } of this.#unanswered.values()) {
      if (endsWithCaller) this.#calls.cancel(call);
    }
  }

  #call(call: Call): void {
    const id = call.id ?? makeCallId();
    if (this.#unanswered.has(id)) throw duplicateId(id);
    if (this.#unanswered.size >= LIMITS.unansweredPerSession) throw tooManyUnanswered(id);
    const live = call.stream ? new LiveFrames(this.#socket, id, (frame) => this.#send(frame)) : undefined;
    const onOutput = live && ((_call: string, piece: OutputPiece) => live.send(piece));
    let giveBack: (() => void) | undefined;
    const room: CallRequest["room"] = async (bytes, signal) => {
      giveBack?.();
      giveBack = await this.#unread.take(bytes, signal);
    };
    const started = this.#calls.start({ ...call, id }, { session: this.#session, onOutput, room });
    this.#unanswered.set(id, { call: started.call, endsWithCaller: endsWithCaller(call) });
    void started.outcome.then(({ body }) => {
      live?.end();
      this.#unanswered.delete(id);
      this.#write(Buffer.from(body.buffer, body.byteOffset, body.length), giveBack);
    });
  }

  #act(action: Action): void {
    switch (action.action) {
      case "ping":
        this.#send({ type: "pong" });
        return;
      case "cancel": {
        const unanswered = this.#unanswered.get(action.id);
        if (unanswered) this.#calls.cancel(unanswered.call);
        return;
      }
      case "cancel_all":
        for (const { call } of this.#unanswered.values()) this.#calls.cancel(call);
        return;
      case "auth":
        // The token here does not expire, so there is nothing to renew.
        return;
      case "events":
        throw noEventsHere();
      default:
        action satisfies never;
    }
  }

  /** One answer under the call's id where that could be read, else one that answers no call. */
  #refuse(error: unknown): void {
    if (!(error instanceof MatrxError)) throw error;
    const { id, ...details } = error.details ?? {};
    const shape = { ...error.shape(), hop: "agent" as const, details };
    if (typeof id === "string") {
      const { body } = errorOutcome({ call: "", id, device: this.#calls.device }, shape, {
        ms: 0,
        effect: false,
      });
      const { call: _, ...answer } = JSON.parse(Buffer.from(body).toString()) as ToCaller & { call?: string };
      this.#send(answer as ToCaller);
      return;
    }
    const { code, message: output, hint, hop } = shape;
    const frame: ErrorFrame = { id: null, type: "error", output, code, hop, ...(hint && { hint }) };
    this.#send(frame);
  }

  #send(frame: ToCaller): void {
    this.#write(JSON.stringify(frame));
  }

  /**
   * A caller that does not read what it asked for is let go, before its answers fill the memory. `left` hears when it has
   * left, or the caller is gone; that a connection closed is heard by its close event.
   */
  #write(text: string | Buffer, left: () => void = () => undefined): void {
    if (this.#socket.bufferedAmount > LIMITS.callerQueueMaxBytes) this.#socket.terminate();
    this.#socket.send(text, { binary: false }, () => left());
  }
}

/** Live output of one call; what a slow caller does not take is left out, and said. */
class LiveFrames {
  readonly #socket: WebSocket;
  readonly #id: string;
  readonly #send: (frame: ToCaller) => void;
  #left = 0;

  constructor(socket: WebSocket, id: string, send: (frame: ToCaller) => void) {
    this.#socket = socket;
    this.#id = id;
    this.#send = send;
  }

  send(piece: OutputPiece): void {
    if (this.#socket.bufferedAmount > LIMITS.callerQueueBytes) {
      this.#left++;
      return;
    }
    this.end();
    this.#send({ id: this.#id, type: "output", ...piece });
  }

  /** Says how much was left out since the last time. */
  end(): void {
    if (this.#left > 0) this.#send({ id: this.#id, type: "gap", frames: this.#left });
    this.#left = 0;
  }
}

function sessionOf(request: IncomingMessage): string {
  const asked = new URL(request.url ?? "/", "http://localhost").searchParams.get("session");
  return asked !== null && isSessionId(asked) ? asked : makeSessionId();
}

function noEventsHere(): MatrxError {
  return new MatrxError({
    code: "INVALID_PARAMETERS",
    message: "action: events are kept by the relay, not here",
    hint: "Ask the relay",
    hop: "agent",
    details: { field: "action" },
  });
}

function binaryFrame(): MatrxError {
  return new MatrxError({
    code: "INVALID_MESSAGE",
    message: "Binary frames are not understood here",
    hint: 'Send JSON as text, such as {"id":"1","tool":"SystemInfo","input":{}}',
    hop: "agent",
  });
}

function duplicateId(id: string): MatrxError {
  return new MatrxError({
    code: "CONFLICT",
    message: `A call with the id "${id}" has not been answered yet`,
    hint: "Give each call its own id",
    hop: "agent",
    details: { id },
  });
}

function tooManyUnanswered(id: string): MatrxError {
  return new MatrxError({
    code: "RATE_LIMITED",
    message: `${LIMITS.unansweredPerSession} calls are already waiting for answers`,
    hint: "Wait for answers before sending more",
    hop: "agent",
    details: { id },
  });
}
