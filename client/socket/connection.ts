/**
 * One WebSocket to a device, for any number of calls, streams and events. A lost connection ends all of them, each with
 * the reason.
 */
import type { EventView } from "@matrx/shared/api.ts";
import type { Answer, ToCaller } from "@matrx/shared/caller/to-caller.ts";
import { callerError, type MatrxError, shapeOf } from "@matrx/shared/errors.ts";
import { HEARTBEAT, Heartbeat } from "@matrx/shared/heartbeat.ts";
import { isLongerThan } from "@matrx/shared/json-input.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { StreamEnd } from "@matrx/shared/streams/endpoint.ts";
import { decodeStreamFrame, isStreamFrame } from "@matrx/shared/streams/frame.ts";
import { ConnectionLost, cancelled, errorIn, RELAY } from "../errors.ts";
import type { CallEvent, CallListener, CallRequest, Input, Opened, StreamOptions } from "../transport.ts";
import type { Dial, Socket } from "./socket.ts";

/** How a connection is made, and in whose name. */
export interface ConnectionOptions {
  readonly dial: Dial;
  /** What it leads to, in words, for messages. Absent: "the relay". */
  readonly host?: string | undefined;
  /** Reads a frame; undefined: it is unknown, and left out. */
  readonly read: (text: string) => ToCaller | undefined;
  /** The token as it is now, since it may be replaced while the connection lasts. Absent: it stays. */
  readonly token?: () => string | undefined | Promise<string | undefined>;
  /** The session that is continued; undefined: a new one. */
  readonly session?: string | undefined;
  /** Told of whom it leads to, once it is open. */
  readonly onHello?: (hello: Hello) => void;
  /** Told how long a sign of life took, there and back, in milliseconds. */
  readonly onRoundTrip?: (ms: number) => void;
}

type Hello = Extract<ToCaller, { type: "hello" }>;

/** The stream that a call opens. */
interface CallOpens {
  readonly stream: number;
  readonly credit: number;
  readonly less: true;
}

type Ended =
  | { readonly kind: "answer"; readonly answer: Answer }
  | { readonly kind: "lost"; readonly why: string; readonly sent: true };

interface Waiting {
  readonly listener: Pick<CallListener, "onEvent" | "onName">;
  readonly end: (ended: Ended) => void;
}

/** Who hears the device's events. */
export interface EventWatcher {
  readonly onEvent: (event: EventView) => void;
  readonly onRefused: (error: MatrxError) => void;
}

/** How long to wait for the answer of a call that is stopped, in milliseconds. */
const STOPPED_WITHIN = TIMES.killAfter + 2000;

/** How often to look whether the token was replaced, in milliseconds. */
const TOKEN_LOOK_EVERY = 60_000;

/** The relay writes the connection's name into frames, whatever is there. */
const ANY_CONNECTION = "0000000000000000";

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #streams = new Map<number, StreamEnd>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #watchers = new Set<EventWatcher>();
  readonly #gone = new AbortController();
  readonly #opened = Promise.withResolvers<void>();
  #socket: Socket | undefined;
  #heartbeat: Heartbeat | undefined;
  #session: string | undefined;
  #token: string | undefined;
  #pinged = 0;
  #last = 0;

  /** Connects. Throws MatrxError: the relay's refusal, or `UNAVAILABLE`. */
  static async open(options: ConnectionOptions): Promise<Connection> {
    const connection = new Connection(options);
    connection.#token = await options.token?.();
    connection.#socket = await options.dial(options.session, {
      onOpen: () => connection.#begin(),
      onMessage: (data) => connection.#take(data),
      onRefused: (error) => connection.#end(error),
      onClose: (why) => connection.#lost(why),
    });
    await connection.#opened.promise;
    return connection;
  }

  private constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#session = options.session;
  }

  /** Aborted when the connection is gone; the reason is a MatrxError. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** Undefined until the relay has named it. */
  get session(): string | undefined {
    return this.#session;
  }

  /** Whether one more stream can be opened: the relay allows a number of them on each connection. */
  get hasRoom(): boolean {
    return this.#streams.size < LIMITS.byteStreamsPerConnection;
  }

  /** Makes a call, and resolves when it has ended or the connection has. Throws MatrxError: it is too large to be sent. */
  async call(
    request: CallRequest,
    listener: Omit<CallListener, "onTrouble">,
    opens?: CallOpens,
  ): Promise<Ended> {
    this.signal.throwIfAborted();
    const id = String(++this.#last);
    const frame = JSON.stringify(frameOf(id, request, opens));
    // The answer to one that is too large does not say which call it is.
    if (isLongerThan(frame, LIMITS.callFrameBytes)) throw tooLarge();
    const { promise, resolve } = Promise.withResolvers<Ended>();
    this.#waiting.set(id, { listener, end: resolve });
    let timer: ReturnType<typeof setTimeout> | undefined;
    const cancel = () => this.#say({ id, action: "cancel" });
    const stop = () => {
      cancel();
      timer = setTimeout(() => resolve({ kind: "lost", why: "no answer", sent: true }), STOPPED_WITHIN);
    };
    const leave = () => {
      if (request.isRead) cancel();
      resolve({ kind: "lost", why: "left", sent: true });
    };
    listener.stop.addEventListener("abort", stop, { once: true });
    listener.leave.addEventListener("abort", leave, { once: true });
    this.#socket?.send(frame);
    if (listener.stop.aborted) stop();
    try {
      return await promise;
    } finally {
      if (timer !== undefined) clearTimeout(timer);
      listener.stop.removeEventListener("abort", stop);
      listener.leave.removeEventListener("abort", leave);
      this.#waiting.delete(id);
    }
  }

  /** Makes a call that opens a stream. Throws MatrxError: the call's error, or why the connection was lost. */
  async open(
    tool: string,
    input: Input,
    { credit, signal = new AbortController().signal }: StreamOptions,
    onEvent: (event: CallEvent) => void,
  ): Promise<Opened> {
    if (signal.aborted) throw cancelled();
    this.signal.throwIfAborted();
    const number = ++this.#last;
    const stop = () => stream.reset(cancelled().shape());
    const stream = new StreamEnd({
      ...{ connection: ANY_CONNECTION, stream: number, side: "caller", hop: "caller", window: credit },
      ...{ credit: 0, frameBytes: LIMITS.streamSharedBytes },
      send: (frame) => this.#socket?.send(frame),
      ready: () => this.#socket?.ready(),
      onClosed: () => {
        this.#streams.delete(number);
        signal.removeEventListener("abort", stop);
      },
    });
    this.#streams.set(number, stream);
    try {
      const listener = {
        onEvent,
        onName: () => undefined,
        stop: signal,
        leave: new AbortController().signal,
      };
      const request = { tool, input, isRead: false, live: false, cancelOnDisconnect: true };
      const ended = await this.call(request, listener, { stream: number, credit, less: true });
      if (ended.kind === "lost") throw this.signal.aborted ? this.signal.reason : cancelled();
      const error = errorIn(ended.answer);
      if (error) throw error;
      if (signal.aborted) stop();
      else if (this.#streams.has(number)) signal.addEventListener("abort", stop, { once: true });
      return { answer: ended.answer, stream };
    } catch (error) {
      stream.lose(shapeOf(error, "caller", ""));
      throw error;
    }
  }

  /** Has the device's events told, those after `after` first, until `signal` or the connection ends. */
  watch(after: string | undefined, watcher: EventWatcher, signal: AbortSignal): void {
    this.#watchers.add(watcher);
    signal.addEventListener("abort", () => this.#watchers.delete(watcher), { once: true });
    this.#say({ action: "events", ...(after !== undefined && { after }) });
  }

  /** Asks for a sign of life now. */
  check(): void {
    this.#heartbeat?.check();
  }

  /** Closes the connection, and with it its streams. */
  close(): void {
    this.#socket?.close();
    this.#lost("it was closed here");
  }

  #begin(): void {
    const looking = setInterval(() => void this.#renew(), TOKEN_LOOK_EVERY);
    const line = {
      ping: () => {
        this.#pinged = performance.now();
        this.#say({ action: "ping" });
      },
      leftBytes: () => this.#socket?.leftBytes() ?? 0,
    };
    this.#heartbeat = new Heartbeat(line, HEARTBEAT, () => {
      // Without a network, a platform may take minutes to tell that it was cut.
      this.#lost("It has not answered for a while");
      this.#socket?.cut();
    });
    this.signal.addEventListener("abort", () => {
      clearInterval(looking);
      this.#heartbeat?.stop();
    });
    this.#opened.resolve();
  }

  #take(data: string | Uint8Array<ArrayBuffer>): void {
    // The relay has checked frames of streams.
    if (typeof data !== "string" && isStreamFrame(data)) {
      const frame = decodeStreamFrame(data);
      return this.#streams.get(frame.stream)?.receive(frame);
    }
    const frame = this.#options.read(typeof data === "string" ? data : new TextDecoder().decode(data));
    if (frame) this.#told(frame);
  }

  #told(frame: ToCaller): void {
    switch (frame.type) {
      case "success":
      case "error":
        return this.#answered(frame);
      case "output":
      case "gap":
      case "progress":
        return this.#waiting.get(frame.id)?.listener.onEvent(frame);
      case "approval": {
        const { listener } = this.#waiting.get(frame.id) ?? {};
        listener?.onName(frame.call);
        return listener?.onEvent(frame);
      }
      case "accepted":
        return this.#waiting.get(frame.id)?.listener.onName(frame.call);
      case "hello":
        this.#session = frame.session;
        return this.#options.onHello?.(frame);
      case "event":
        for (const { onEvent } of this.#watchers) onEvent(frame.event);
        return;
      case "pong":
        this.#heartbeat?.answered();
        return this.#options.onRoundTrip?.(performance.now() - this.#pinged);
      case "authenticated":
        return;
      default:
        frame satisfies never;
    }
  }

  #answered({ id, ...answer }: Extract<ToCaller, { type: "success" | "error" }>): void {
    const waiting = typeof id === "string" ? this.#waiting.get(id) : undefined;
    if (waiting) return waiting.end({ kind: "answer", answer });
    const error = errorIn(answer);
    // What answers no call answers the wish for events.
    if (error) for (const { onRefused } of this.#watchers) onRefused(error);
  }

  #say(message: object): void {
    this.#socket?.send(JSON.stringify(message));
  }

  /** A connection ends with its token, unless it is told the next one. */
  async #renew(): Promise<void> {
    try {
      const token = await this.#options.token?.();
      if (token === undefined || token === this.#token) return;
      this.#token = token;
      this.#say({ action: "auth", token });
    } catch {
      // Signed out: the relay ends the connection when it must.
    }
  }

  #lost(why: string): void {
    this.#end(new ConnectionLost(why, this.#options.host ?? RELAY), why);
  }

  #end(error: MatrxError, why = error.message): void {
    if (this.#gone.signal.aborted) return;
    this.#gone.abort(error);
    this.#opened.reject(error);
    // It is rejected even where nobody waits for it any more.
    this.#opened.promise.catch(() => undefined);
    for (const { end } of [...this.#waiting.values()]) end({ kind: "lost", why, sent: true });
    for (const stream of [...this.#streams.values()]) stream.lose(error.shape());
  }
}

function frameOf(id: string, request: CallRequest, opens: CallOpens | undefined) {
  const { tool, input, timeoutMs, idempotencyKey, live, cancelOnDisconnect } = request;
  return {
    ...{ id, tool, input, stream: live },
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
    ...(idempotencyKey !== undefined && { idempotency_key: idempotencyKey }),
    ...(cancelOnDisconnect && { cancel_on_disconnect: true }),
    ...(opens && { opens }),
  };
}

function tooLarge(): MatrxError {
  return callerError("PAYLOAD_TOO_LARGE", `The call is larger than ${LIMITS.callFrameBytes} bytes`, {
    hint: "Send large content in parts, or as a file",
    details: { limit_bytes: LIMITS.callFrameBytes },
  });
}
