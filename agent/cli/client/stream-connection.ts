/**
 * One WebSocket to a device, on which calls open streams. Commands that move bytes are built on it: `open` makes the call
 * and gives its stream, `call` makes a call without one. What the relay refuses for its rate is sent again when it says. A
 * lost connection ends all of its streams, each with the reason.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type ErrorFrame, type ToCaller, toCallerSchema } from "@matrx/shared/caller/to-caller.ts";
import { callerError, MatrxError, shapeOf } from "@matrx/shared/errors.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import { retryAfterMsOf } from "@matrx/shared/retry.ts";
import { StreamEnd } from "@matrx/shared/streams/endpoint.ts";
import { decodeStreamFrame, isStreamFrame } from "@matrx/shared/streams/frame.ts";
import type { WantedOpens } from "@matrx/shared/streams/opens.ts";
import { SUBPROTOCOL } from "@matrx/shared/tokens.ts";
import type { WebSocket } from "ws";
import { lostBecause } from "../../relay/close-reasons.ts";
import { HEARTBEAT, Heartbeat } from "../../relay/heartbeat.ts";
import { PacedSocket } from "../../relay/paced-socket.ts";
import { noteWaiting } from "../output/waiting-note.ts";
import { dialSilently, hangUp, PING, sendIfOpen } from "./caller-socket.ts";
import { parsedJson } from "./json.ts";
import type { RelayClient } from "./relay-client.ts";

type Success = Extract<ToCaller, { type: "success" }>;
type Input = Readonly<Record<string, unknown>>;

export interface StreamOptions {
  /** What the device may send at most before it is taken, in bytes, 32 KiB to 4 MiB; bounds the memory that a stream takes here. */
  readonly credit: number;
  /** Cancels the call, or resets the stream that it opened. */
  readonly signal?: AbortSignal | undefined;
}

export interface Opened {
  readonly answer: Success;
  readonly stream: StreamEnd;
}

interface Waiting {
  readonly resolve: (answer: Success) => void;
  readonly reject: (error: MatrxError) => void;
}

/** The longest that a call waits for the relay's rate, in milliseconds. */
const LONGEST_WAIT = 60_000;

/** How often to look whether the token was replaced, in milliseconds. */
const TOKEN_LOOK_EVERY = 60_000;

/** The relay writes the connection's name into frames, whatever is there. */
const ANY_CONNECTION = "0000000000000000";

export class StreamConnection {
  readonly #client: RelayClient;
  readonly #socket: WebSocket;
  readonly #paced: PacedSocket;
  readonly #streams = new Map<number, StreamEnd>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #gone = new AbortController();
  #token: string | undefined;
  #last = 0;
  #why: string | undefined;

  /** Connects. Throws MatrxError: the relay's refusal, or `UNAVAILABLE`. */
  static async open(client: RelayClient, device: string, session?: string): Promise<StreamConnection> {
    const opened = Promise.withResolvers<void>();
    const socket = dialSilently(client, {
      ...{ device, session, subprotocols: [SUBPROTOCOL.binary] },
      onRefused: opened.reject,
    });
    const connection = new StreamConnection(client, socket);
    socket.once("open", opened.resolve);
    connection.#gone.signal.addEventListener("abort", () => opened.reject(connection.#gone.signal.reason));
    await opened.promise;
    return connection;
  }

  private constructor(client: RelayClient, socket: WebSocket) {
    this.#client = client;
    this.#token = client.token;
    this.#socket = socket;
    this.#paced = new PacedSocket(socket);
    const line = {
      ping: () => sendIfOpen(socket, PING),
      leftBytes: () => this.#paced.sentBytes - socket.bufferedAmount,
    };
    let heartbeat: Heartbeat | undefined;
    const looking = setInterval(() => this.#renew(), TOKEN_LOOK_EVERY);
    socket.on("open", () => {
      heartbeat = new Heartbeat(line, HEARTBEAT, () => {
        this.#why = "It has not answered for a while";
        socket.terminate();
      });
    });
    socket.on("message", (data: Buffer, isBinary) => {
      if (isBinary && isStreamFrame(data)) return this.#receive(data);
      const frame = toCallerSchema.safeParse(parsedJson(data.toString())).data;
      if (frame?.type === "pong") heartbeat?.answered();
      else if (frame?.type === "success") this.#waitingFor(frame.id)?.resolve(frame);
      else if (frame?.type === "error") this.#waitingFor(frame.id)?.reject(errorOf(frame));
      else if (frame?.type === "approval" && frame.state === "pending")
        noteWaiting({ id: frame.approval, expires: frame.expires });
    });
    socket.on("error", (error) => {
      this.#why ??= lostBecause(error);
    });
    socket.on("close", (code, reason) => {
      heartbeat?.stop();
      clearInterval(looking);
      this.#lost(this.#why ?? (reason.toString() || `closed (${code})`));
    });
  }

  /** Aborted when the connection is gone; the reason is a MatrxError. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** Whether one more stream can be opened: the relay allows a number of them on each connection. */
  get hasRoom(): boolean {
    return this.#streams.size < LIMITS.byteStreamsPerConnection;
  }

  /** Makes a call that opens a stream. Throws MatrxError: the call's error, or why the connection was lost. */
  open(tool: string, input: Input, options: StreamOptions): Promise<Opened> {
    return whenTaken(() => this.#open(tool, input, options), options.signal);
  }

  /** Makes a call without a stream. Throws MatrxError. */
  call(tool: string, input: Input, signal?: AbortSignal): Promise<Success> {
    return whenTaken(() => this.#answered(tool, input, signal), signal);
  }

  /** Closes the connection, and with it its streams. */
  close(): void {
    hangUp(this.#socket);
    this.#lost("it was closed here");
  }

  async #open(tool: string, input: Input, { credit, signal }: StreamOptions): Promise<Opened> {
    this.signal.throwIfAborted();
    const number = ++this.#last;
    const stream = new StreamEnd({
      ...{ connection: ANY_CONNECTION, stream: number, side: "caller", hop: "caller", window: credit },
      ...{ credit: 0, frameBytes: LIMITS.streamSharedBytes },
      send: (frame) => this.#paced.send(frame),
      ready: () => this.#paced.ready(),
      onClosed: () => this.#streams.delete(number),
    });
    this.#streams.set(number, stream);
    const stop = () => stream.reset(shapeOf(cancelled(), "caller", ""));
    try {
      const answer = await this.#answered(tool, input, signal, { stream: number, credit, less: true });
      signal?.addEventListener("abort", stop, { once: true });
      stream.signal.addEventListener("abort", () => signal?.removeEventListener("abort", stop), {
        once: true,
      });
      return { answer, stream };
    } catch (error) {
      stream.lose(shapeOf(error, "caller", ""));
      throw error;
    }
  }

  async #answered(tool: string, input: Input, signal?: AbortSignal, opens?: WantedOpens): Promise<Success> {
    this.signal.throwIfAborted();
    if (signal?.aborted) throw cancelled();
    const id = String(++this.#last);
    const { promise, resolve, reject } = Promise.withResolvers<Success>();
    this.#waiting.set(id, { resolve, reject });
    const cancel = () => sendIfOpen(this.#socket, { id, action: "cancel" });
    signal?.addEventListener("abort", cancel, { once: true });
    sendIfOpen(this.#socket, { id, tool, input, cancel_on_disconnect: true, ...(opens && { opens }) });
    try {
      return await promise;
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  #waitingFor(id: string | null | undefined): Waiting | undefined {
    if (typeof id !== "string") return undefined;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  /** The relay has checked the frame. */
  #receive(data: Buffer): void {
    const frame = decodeStreamFrame(data);
    this.#streams.get(frame.stream)?.receive(frame);
  }

  /** A connection ends with its token, unless it is told the next one. */
  #renew(): void {
    let token: string | undefined;
    try {
      token = this.#client.token;
    } catch {
      // Signed out: the relay ends the connection when it must.
      return;
    }
    if (token === this.#token) return;
    this.#token = token;
    sendIfOpen(this.#socket, { action: "auth", token });
  }

  #lost(why: string): void {
    if (this.#gone.signal.aborted) return;
    const error = callerError("UNAVAILABLE", `Lost the connection to the relay: ${why}`, {
      hint: "Check the address and your network, and try again",
    });
    this.#gone.abort(error);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    for (const stream of [...this.#streams.values()]) stream.lose(error.shape());
  }
}

function errorOf({ code, output, hint, hop, metadata }: ErrorFrame): MatrxError {
  return new MatrxError({ code, message: output, hint, hop, details: metadata });
}

/** Sends it until the relay takes it: what it refuses for its rate has not run. Throws MatrxError. */
async function whenTaken<T>(send: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      const wait = error instanceof MatrxError ? waitOf(error) : undefined;
      if (wait === undefined || wait > LONGEST_WAIT) throw error;
      await sleep(wait, undefined, signal && { signal }).catch(() => Promise.reject(cancelled()));
    }
  }
}

function waitOf({ code, hop, details }: MatrxError): number | undefined {
  return code === "RATE_LIMITED" && hop === "relay" ? retryAfterMsOf(details) : undefined;
}

function cancelled(): MatrxError {
  return callerError("CANCELLED", "Cancelled");
}
