/** One that watches a terminal, over a connection of its own, and gets the output at its own speed. */
import type { Socket } from "node:net";
import { dataFrame, messageFrame } from "../frames.ts";
import type { TerminalEvent } from "../protocol.ts";
import type { Ring } from "./ring.ts";

/** Bytes of output in one frame. */
const PIECE_BYTES = 64 * 1024;

export interface ViewerOptions {
  readonly socket: Socket;
  readonly ring: Ring;
  /** The first byte that it gets. */
  readonly from: number;
  readonly write: boolean;
  readonly label: string | undefined;
  /** Its connection takes nothing more for so long, in milliseconds: then it is dropped. */
  readonly deadMs: number;
  /** It has caught up a little, or is gone. */
  readonly onProgress: () => void;
}

export class Viewer {
  readonly write: boolean;
  readonly label: string | undefined;
  readonly since = Date.now();
  readonly #options: ViewerOptions;
  #next: number;
  #isBlocked = false;
  #dead: NodeJS.Timeout | undefined;
  /** How the terminal ended, until that is told. */
  #ended: TerminalEvent | undefined;

  constructor(options: ViewerOptions) {
    this.#options = options;
    this.write = options.write;
    this.label = options.label;
    this.#next = options.from;
    const { socket } = options;
    socket.on("drain", () => {
      this.#isBlocked = false;
      this.#isAlive();
      this.pump();
      options.onProgress();
    });
    socket.on("finish", () => this.#isAlive());
    socket.on("close", () => this.#isAlive());
  }

  /** How many bytes of output it has not been sent yet. */
  get lag(): number {
    return this.#options.ring.end - this.#next;
  }

  /** Sends what it has room for. */
  pump(): void {
    const { ring } = this.#options;
    if (this.#next < ring.begin) {
      this.tell({ event: "gap", from: this.#next, to: ring.begin });
      this.#next = ring.begin;
    }
    while (!this.#isBlocked && this.#next < ring.end) {
      const piece = ring.read(this.#next, PIECE_BYTES);
      this.#next += piece.length;
      this.#send(dataFrame(piece));
    }
    if (this.#ended && this.lag === 0) this.#leave(this.#ended);
  }

  tell(event: TerminalEvent): void {
    this.#send(messageFrame(event));
  }

  /** Tells the end of the terminal once it has all the output, however slowly it takes it. */
  end(event: TerminalEvent): void {
    this.#ended = event;
    this.pump();
  }

  close(): void {
    this.#options.socket.destroy();
  }

  #leave(ended: TerminalEvent): void {
    this.#ended = undefined;
    this.tell(ended);
    this.#options.socket.end();
  }

  #isAlive(): void {
    clearTimeout(this.#dead);
    this.#dead = undefined;
  }

  #send(bytes: Buffer): void {
    const { socket, deadMs } = this.#options;
    if (socket.destroyed || socket.writableEnded) return;
    if (socket.write(bytes)) return;
    this.#dead ??= setTimeout(() => this.close(), deadMs);
    this.#isBlocked = true;
  }
}
