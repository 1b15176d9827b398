/** A WebSocket whose writers of streams take turns, and wait while much is queued on it. */
import { WebSocket } from "ws";

/** Beyond this many queued bytes, streams wait: everything else would wait behind them. */
const QUEUED_MAX = 512 * 1024;

export class PacedSocket {
  readonly #socket: WebSocket;
  /** Writers in the order in which they came: each sends one frame at a time, so that none keeps the others waiting. */
  #waiting: (() => void)[] = [];
  #sentBytes = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("close", () => this.#go());
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** Sends a frame, which must not be used afterwards, or drops it if the connection is gone: its close event ends the streams. */
  send(frame: Uint8Array<ArrayBuffer>): void {
    if (!this.isOpen) return;
    this.#sentBytes += frame.length;
    // Of a Buffer the library makes no copy: it masks the frame where it is.
    this.#socket.send(Buffer.from(frame.buffer, frame.byteOffset, frame.length), () => this.#go());
  }

  /** Bytes of streams that were handed to the connection. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

  /** Resolves when the connection takes one more frame; undefined: it does now. */
  ready(): Promise<void> | undefined {
    if (!this.isOpen || this.#socket.bufferedAmount < QUEUED_MAX) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #go(): void {
    if (this.#waiting.length === 0) return;
    if (this.isOpen && this.#socket.bufferedAmount >= QUEUED_MAX) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
