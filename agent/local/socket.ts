/** One WebSocket of a local caller (guide, WebSocket Protocol): the protocol shared with the relay, on top of this machine's calls. */
import type { Call } from "@matrx/shared/caller/from-caller.ts";
import {
  CallerProtocol,
  type ConnectionPort,
  type OnClose,
  onCloseOf,
  type UnansweredCall,
} from "@matrx/shared/caller/protocol.ts";
import type { Progress } from "@matrx/shared/content.ts";
import { effectOfCall, toolNameOf } from "@matrx/shared/effects.ts";
import type { ErrorShape } from "@matrx/shared/errors.ts";
import type { CallId, DeviceId, SessionId } from "@matrx/shared/ids.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import { SUBPROTOCOL } from "@matrx/shared/tokens.ts";
import type { WebSocket } from "ws";
import { ByteBudget } from "../core/byte-budget.ts";
import type { OutputPiece } from "../core/live-output.ts";
import type { EventHub } from "../events/hub.ts";
import { eventsAfter, viewOf } from "./events.ts";
import type { LocalCalls } from "./local-calls.ts";

/** What all connections of a local server share. */
export interface LocalCallers {
  readonly calls: LocalCalls;
  readonly hub: EventHub;
  /** Throws MatrxError `UNAUTHENTICATED`. */
  requireToken(token: string): void;
  /** What the caller is told about an error; unexpected ones are logged. */
  errorShape(error: unknown): ErrorShape;
  /** Bytes queued on all connections. */
  queued(): number;
}

/** How long a closed caller may take to answer the close frame, in milliseconds. */
const CLOSE_WITHIN = 500;
/** The local token does not expire. */
const FOR_EVER = "9999-12-31T23:59:59.999Z";

/** Serves a caller's connection until it closes. */
export function serveSocket(socket: WebSocket, session: SessionId, callers: LocalCallers): void {
  const caller = new LocalCaller(socket, session, callers);
  socket.on("message", (data, isBinary) => {
    if (caller.isOpen) caller.protocol.message(isBinary ? (data as Buffer) : data.toString(), Date.now());
  });
  socket.on("close", () => caller.closed());
  socket.on("error", () => socket.terminate());
}

class LocalCaller implements ConnectionPort<LocalCall> {
  readonly hop = "agent";
  readonly expires = Number.POSITIVE_INFINITY;
  readonly protocol: CallerProtocol<LocalCall>;
  readonly device: DeviceId;
  /** Large answers that are being made or not yet read. */
  readonly unread = new ByteBudget(LIMITS.callerAnswersBytes);
  readonly #socket: WebSocket;
  readonly #session: SessionId;
  readonly #callers: LocalCallers;
  #unsubscribe: () => void = () => undefined;

  constructor(socket: WebSocket, session: SessionId, callers: LocalCallers) {
    this.#socket = socket;
    this.#session = session;
    this.#callers = callers;
    this.device = callers.calls.device as DeviceId;
    const isBinary = socket.protocol === SUBPROTOCOL.binary;
    const send = (data: string | Uint8Array, left?: () => void) =>
      socket.send(data, { binary: isBinary && typeof data !== "string" }, () => left?.());
    this.protocol = new CallerProtocol(this, send, isBinary || socket.protocol === SUBPROTOCOL.v1);
    this.protocol.greet(session, this.device);
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  get queued(): number {
    return this.#socket.bufferedAmount;
  }

  get queuedTogether(): number {
    return this.#callers.queued();
  }

  /** Whoever has this machine's token may send as much as it likes. */
  countMessage(): void {}

  start(id: string, call: Call): void {
    const onClose = onCloseOf(
      effectOfCall(toolNameOf(call.tool), () => call.input),
      call,
    );
    const waiting = new LocalCall(this, id, onClose);
    const onOutput = call.stream ? (_call: string, piece: OutputPiece) => waiting.output(piece) : undefined;
    const onProgress = call.stream ? (progress: Progress) => waiting.progress(progress) : undefined;
    // Its name is its id where it has none of its own.
    const name = call.id === undefined ? (id as CallId) : undefined;
    const options = { name, session: this.#session, onOutput, onProgress, room: waiting.room };
    const started = this.#callers.calls.start({ ...call, id }, options);
    waiting.call = started.call as CallId;
    this.protocol.expect(id, waiting);
    void started.outcome.then(({ body }) => waiting.answer(body));
  }

  cancel(call: CallId): void {
    this.#callers.calls.cancel(call);
  }

  settled(): void {}

  abandon({ call, onClose }: LocalCall): void {
    if (onClose !== "goes_on") this.cancel(call);
  }

  /** There is only one token, and it does not expire: nothing changes, but a wrong token is refused. */
  async renew(token: string): Promise<void> {
    this.#callers.requireToken(token);
    this.protocol.send({ type: "authenticated", expires: FOR_EVER });
  }

  subscribeToEvents(after: string | undefined): void {
    const { hub } = this.#callers;
    this.#unsubscribe();
    this.#unsubscribe = hub.subscribe((event) => this.#tell(viewOf(event, true)));
    if (after !== undefined) for (const event of eventsAfter(after, hub)) this.#tell(event);
  }

  #tell(event: ReturnType<typeof viewOf>): void {
    this.protocol.send({ type: "event", device: this.device, event });
  }

  errorShape(error: unknown): ErrorShape {
    return this.#callers.errorShape(error);
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
    setTimeout(() => this.#socket.terminate(), CLOSE_WITHIN).unref();
  }

  closed(): void {
    this.#unsubscribe();
    this.protocol.closed();
  }
}

/** One unanswered call of a local caller. */
class LocalCall implements UnansweredCall {
  call: CallId = "" as CallId;
  readonly onClose: OnClose;
  readonly #caller: LocalCaller;
  readonly #id: string;
  /** Pieces of live output dropped since the last one passed on. */
  #missed = 0;
  #giveBack: (() => void) | undefined;

  constructor(caller: LocalCaller, id: string, onClose: OnClose) {
    this.#caller = caller;
    this.#id = id;
    this.onClose = onClose;
  }

  /** Waits for room for a large answer of this many bytes. */
  readonly room = async (bytes: number, signal: AbortSignal): Promise<void> => {
    this.#giveBack?.();
    this.#giveBack = await this.#caller.unread.take(bytes, signal);
  };

  output(piece: OutputPiece): void {
    const frame = Buffer.from(JSON.stringify({ id: this.#id, type: "output", ...piece }));
    if (this.#caller.protocol.output(this.#id, frame, this.#missed)) this.#missed = 0;
    else this.#missed++;
  }

  progress(progress: Progress): void {
    this.#caller.protocol.progress(this.#id, progress);
  }

  answer(body: Uint8Array): void {
    this.#caller.protocol.answer(this.#id, body, this.#missed, this.#giveBack);
  }
}
