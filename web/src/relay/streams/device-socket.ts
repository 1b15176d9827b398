/** One connection to a machine, on which calls open streams. When it is lost, all of them end, each with the reason. */
import type { ToCaller } from "@matrx/shared/caller/to-caller.ts";
import { callerError, type ErrorCode, HOPS, MatrxError } from "@matrx/shared/errors.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import { StreamEnd } from "@matrx/shared/streams/endpoint.ts";
import { decodeStreamFrame, isStreamFrame, type StreamFrame } from "@matrx/shared/streams/frame.ts";
import type { WantedOpens } from "@matrx/shared/streams/opens.ts";
import type { LiveSocket, LiveSocketListener } from "../live-socket.ts";
import { openTokenSocket } from "../token-socket.ts";

type Success = Extract<ToCaller, { type: "success" }>;
type Input = Readonly<Record<string, unknown>>;

export interface CallOptions {
  /** Cancels the call, and resets the stream that it opened. */
  readonly signal?: AbortSignal | undefined;
  /** The call waits for a person. */
  readonly onApproval?: (() => void) | undefined;
}

export interface StreamOptions extends CallOptions {
  /** What the machine may send at most before it is taken, in bytes, 32 KiB to 4 MiB; bounds the memory that a stream takes here. */
  readonly credit: number;
}

export interface Opened {
  readonly answer: Success;
  readonly stream: StreamEnd;
}

interface Waiting {
  readonly resolve: (answer: Success) => void;
  readonly reject: (error: MatrxError) => void;
  readonly onApproval: (() => void) | undefined;
}

/** The relay writes the connection's name into frames, whatever is there. */
const ANY_CONNECTION = "0000000000000000";

type Frame = ToCaller | { readonly type: "stream"; readonly frame: StreamFrame };

/** Opens the socket beneath; another one in tests. */
export type Dial = (listener: LiveSocketListener<Frame>) => Promise<LiveSocket>;

export class DeviceSocket {
  readonly #streams = new Map<number, StreamEnd>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #gone = new AbortController();
  readonly #greeted = Promise.withResolvers<void>();
  #socket: LiveSocket | undefined;
  #last = 0;

  /** Resolves once the relay has greeted. Throws MatrxError `UNAVAILABLE`, or ApiError: nobody is signed in. */
  static async open(device: string, dial: Dial = dialOf(device)): Promise<DeviceSocket> {
    const opened = new DeviceSocket();
    opened.#socket = await dial({
      onFrame: (frame) => opened.#take(frame),
      onRoundTrip: () => undefined,
      onEnd: () => opened.#lost(),
    });
    await opened.#greeted.promise;
    return opened;
  }

  private constructor() {}

  /** Aborted when the connection is gone; the reason is a MatrxError. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** Makes a call that opens a stream. Throws MatrxError: the call's error, or why the connection was lost. */
  async open(tool: string, input: Input, { credit, ...options }: StreamOptions): Promise<Opened> {
    this.signal.throwIfAborted();
    const number = ++this.#last;
    const { signal } = options;
    const stop = () => stream.reset(cancelled().shape());
    const stream = new StreamEnd({
      ...{ connection: ANY_CONNECTION, stream: number, side: "caller", hop: "caller", window: credit },
      ...{ credit: 0, frameBytes: LIMITS.streamSharedBytes },
      send: (frame) => this.#socket?.send(frame),
      onClosed: () => {
        this.#streams.delete(number);
        signal?.removeEventListener("abort", stop);
      },
    });
    this.#streams.set(number, stream);
    try {
      const answer = await this.#answered(tool, input, options, { stream: number, credit, less: true });
      if (signal?.aborted) stop();
      else if (this.#streams.has(number)) signal?.addEventListener("abort", stop, { once: true });
      return { answer, stream };
    } catch (error) {
      if (error instanceof MatrxError) stream.lose(error.shape());
      throw error;
    }
  }

  /** Makes a call without a stream. Throws MatrxError. */
  call(tool: string, input: Input, options: CallOptions = {}): Promise<Success> {
    return this.#answered(tool, input, options);
  }

  /** Asks for a sign of life: a network that went away may not have closed the connection. */
  check(): void {
    this.#socket?.check();
  }

  /** Closes the connection, and with it its streams. */
  close(): void {
    this.#socket?.close();
    this.#lost();
  }

  async #answered(
    tool: string,
    input: Input,
    { signal, onApproval }: CallOptions,
    opens?: WantedOpens,
  ): Promise<Success> {
    this.signal.throwIfAborted();
    if (signal?.aborted) throw cancelled();
    const id = String(++this.#last);
    const { promise, resolve, reject } = Promise.withResolvers<Success>();
    this.#waiting.set(id, { resolve, reject, onApproval });
    const cancel = () => this.#say({ id, action: "cancel" });
    signal?.addEventListener("abort", cancel, { once: true });
    this.#say({ id, tool, input, cancel_on_disconnect: true, ...(opens && { opens }) });
    try {
      return await promise;
    } finally {
      signal?.removeEventListener("abort", cancel);
      this.#waiting.delete(id);
    }
  }

  #say(message: object): void {
    this.#socket?.send(JSON.stringify(message));
  }

  #take(frame: Frame): void {
    switch (frame.type) {
      case "hello":
        return this.#greeted.resolve();
      case "stream":
        return this.#streams.get(frame.frame.stream)?.receive(frame.frame);
      case "success":
        return this.#waiting.get(frame.id ?? "")?.resolve(frame);
      case "error":
        return this.#waiting.get(frame.id ?? "")?.reject(errorOf(frame));
      case "approval":
        if (frame.state === "pending") this.#waiting.get(frame.id ?? "")?.onApproval?.();
        return;
      default:
      // Nothing else is asked for.
    }
  }

  #lost(): void {
    if (this.#gone.signal.aborted) return;
    const error = lost();
    this.#gone.abort(error);
    this.#greeted.reject(error);
    // It is rejected even where nobody waits for it any more.
    this.#greeted.promise.catch(() => undefined);
    for (const { reject } of [...this.#waiting.values()]) reject(error);
    for (const stream of [...this.#streams.values()]) stream.lose(error.shape());
  }
}

function dialOf(device: string): Dial {
  return (listener) => openTokenSocket(`/v1/devices/${encodeURIComponent(device)}/ws`, frameOf, listener);
}

/** Undefined: a newer relay may send what this page does not know. */
export function frameOf(data: unknown): Frame | undefined {
  try {
    if (data instanceof ArrayBuffer) {
      const bytes = new Uint8Array(data);
      return isStreamFrame(bytes) ? { type: "stream", frame: decodeStreamFrame(bytes) } : undefined;
    }
    const frame: unknown = JSON.parse(String(data));
    return typeof frame === "object" && frame !== null && "type" in frame ? (frame as ToCaller) : undefined;
  } catch {
    return undefined;
  }
}

/** A machine may have written anything into it, and a newer relay has codes that this page does not know. */
function errorOf({ code, output, hint, hop }: Readonly<Record<string, unknown>>): MatrxError {
  return new MatrxError({
    code: typeof code === "string" ? (code as ErrorCode) : "INTERNAL",
    message: typeof output === "string" ? output : "The call ended, and its answer can't be read here.",
    ...(typeof hint === "string" && { hint }),
    hop: HOPS.find((known) => known === hop) ?? "device",
  });
}

function cancelled(): MatrxError {
  return callerError("CANCELLED", "Cancelled");
}

function lost(): MatrxError {
  return callerError("UNAVAILABLE", "Lost the connection to the relay", {
    hint: "It comes back by itself. If not, check your network",
  });
}
