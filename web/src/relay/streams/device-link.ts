/** The connection to a machine for as long as a page needs it: opened when somebody wants it, and again after it was lost. */
import { callerError, MatrxError } from "@matrx/shared/errors.ts";
import { isSignedOut } from "../api-error.ts";
import { type CallOptions, DeviceSocket, type Opened, type StreamOptions } from "./device-socket.ts";

type Input = Readonly<Record<string, unknown>>;

/** What may bring a network back. */
const WAKING = ["online", "focus"] as const;

export class DeviceLink {
  readonly device: string;
  readonly #closed = new AbortController();
  #socket: DeviceSocket | undefined;
  /** One at a time, for all who wait for it. */
  #dialling: Promise<DeviceSocket> | undefined;
  #wake = Promise.withResolvers<void>();

  constructor(device: string) {
    this.device = device;
    const { signal } = this.#closed;
    for (const event of WAKING) addEventListener(event, () => this.wake(), { signal });
    document.addEventListener("visibilitychange", () => this.wake(), { signal });
  }

  /** Makes a call that opens a stream. Throws MatrxError. */
  async open(tool: string, input: Input, options: StreamOptions): Promise<Opened> {
    return (await this.#connected()).open(tool, input, options);
  }

  /** Makes a call. Throws MatrxError. */
  async call(tool: string, input: Input, options?: CallOptions): Promise<{ readonly metadata?: unknown }> {
    return (await this.#connected()).call(tool, input, options);
  }

  /** Resolves after so many milliseconds, or when the network may be back. Rejects when the link is closed. */
  async pause(ms: number): Promise<void> {
    const over = Promise.withResolvers<void>();
    const timer = setTimeout(over.resolve, ms);
    const stop = () => over.reject(this.#closed.signal.reason);
    this.#closed.signal.addEventListener("abort", stop, { once: true });
    try {
      this.#closed.signal.throwIfAborted();
      await Promise.race([over.promise, this.#wake.promise]);
    } finally {
      clearTimeout(timer);
      this.#closed.signal.removeEventListener("abort", stop);
    }
  }

  /** Whoever pauses tries at once, and an open connection is asked for a sign of life. */
  wake(): void {
    if (document.visibilityState !== "visible") return;
    this.#socket?.check();
    if (this.#socket) return;
    const { resolve } = this.#wake;
    this.#wake = Promise.withResolvers();
    resolve();
  }

  /** Ends all streams. */
  close(): void {
    this.#closed.abort(closedError());
    this.#socket?.close();
  }

  #connected(): Promise<DeviceSocket> {
    this.#closed.signal.throwIfAborted();
    if (this.#socket) return Promise.resolve(this.#socket);
    this.#dialling ??= this.#open().finally(() => {
      this.#dialling = undefined;
    });
    return this.#dialling;
  }

  async #open(): Promise<DeviceSocket> {
    const socket = await DeviceSocket.open(this.device).catch((error: unknown) => {
      throw error instanceof MatrxError ? error : unavailable(error);
    });
    if (this.#closed.signal.aborted) socket.close();
    socket.signal.throwIfAborted();
    this.#socket = socket;
    socket.signal.addEventListener("abort", () => {
      this.#socket = undefined;
    });
    return socket;
  }
}

function unavailable(error: unknown): MatrxError {
  const message = error instanceof Error ? error.message : String(error);
  return callerError(isSignedOut(error) ? "UNAUTHENTICATED" : "UNAVAILABLE", message);
}

function closedError(): MatrxError {
  return callerError("CANCELLED", "The page was left");
}
