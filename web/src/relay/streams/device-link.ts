/** The connection to a machine for as long as a page needs it: opened when somebody wants it, and again after it was lost. */
import { ConnectionLost, errorIn } from "@matrx/client/errors.ts";
import { SocketTransport } from "@matrx/client/socket/transport.ts";
import { webSocketDial } from "@matrx/client/socket/web-socket.ts";
import type { CallEvent, Input, Opened } from "@matrx/client/transport.ts";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import { callerError, MatrxError } from "@matrx/shared/errors.ts";
import { onWake } from "../../base/on-wake.ts";
import { frameIn } from "../answer.ts";
import { accessToken } from "../api.ts";
import { isSignedOut } from "../api-error.ts";

export interface LinkOptions {
  /** Cancels the call, and resets the stream that it opened. */
  readonly signal?: AbortSignal | undefined;
  /** The call waits for a person. */
  readonly onApproval?: (() => void) | undefined;
}

export interface StreamOptions extends LinkOptions {
  /** What the machine may send at most before it is taken, in bytes, 32 KiB to 4 MiB; bounds the memory that a stream takes here. */
  readonly credit: number;
}

const NEVER = new AbortController().signal;

export class DeviceLink {
  readonly device: string;
  readonly #transport: SocketTransport;
  readonly #closed = new AbortController();
  #wake = Promise.withResolvers<void>();

  constructor(device: string) {
    this.device = device;
    this.#transport = new SocketTransport({ dial: dialOf(device), token, read: frameIn });
    onWake(() => this.wake(), this.#closed.signal);
  }

  /** Makes a call that opens a stream. Throws MatrxError. */
  async open(tool: string, input: Input, { credit, signal, onApproval }: StreamOptions): Promise<Opened> {
    this.#closed.signal.throwIfAborted();
    return await this.#transport.open(tool, input, { credit, signal }, told(onApproval)).catch(inWords);
  }

  /** Makes a call, which ends with the connection. Throws MatrxError. */
  async call(tool: string, input: Input, { signal = NEVER, onApproval }: LinkOptions = {}): Promise<Answer> {
    this.#closed.signal.throwIfAborted();
    const request = { tool, input, isRead: false, live: false, cancelOnDisconnect: true };
    const unheard = () => undefined;
    const heard = { onEvent: told(onApproval), onName: unheard, onTrouble: unheard };
    const listener = { ...heard, stop: signal, leave: NEVER };
    const attempt = await this.#transport.attempt(request, listener).catch(inWords);
    if (attempt.kind !== "answer") throw lost();
    const error = errorIn(attempt.answer);
    if (error) throw error;
    return attempt.answer;
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
    this.#transport.check();
    const { resolve } = this.#wake;
    this.#wake = Promise.withResolvers();
    resolve();
  }

  /** Ends all streams. */
  close(): void {
    this.#closed.abort(callerError("CANCELLED", "The page was left"));
    this.#transport.close();
  }
}

function dialOf(device: string) {
  const base = new URL(`/v1/devices/${encodeURIComponent(device)}`, location.href).href;
  return webSocketDial({ base, token, whyRefused: async () => undefined });
}

/** Throws MatrxError: nobody is signed in, or the relay can't be asked. */
function token(): Promise<string | undefined> {
  return accessToken().catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    throw callerError(isSignedOut(error) ? "UNAUTHENTICATED" : "UNAVAILABLE", message);
  });
}

function told(onApproval: LinkOptions["onApproval"]) {
  return (event: CallEvent) => {
    if (event.type === "approval" && event.state === "pending") onApproval?.();
  };
}

function inWords(error: unknown): never {
  throw error instanceof ConnectionLost || !(error instanceof MatrxError) ? lost() : error;
}

function lost(): MatrxError {
  return callerError("UNAVAILABLE", "Lost the connection to the relay", {
    hint: "It comes back by itself. If not, check your network",
  });
}
