/** The text heartbeat: the relay's runtime answers it while the device's object sleeps. */
import { TIMES } from "@matrx/shared/limits.ts";

export interface HeartbeatTimes {
  every: number;
  pongWithin: number;
}

export const HEARTBEAT: HeartbeatTimes = { every: TIMES.heartbeat, pongWithin: TIMES.pongWithin };

interface Socket {
  send(text: string): void;
  readonly bufferedAmount: number;
}

export class Heartbeat {
  readonly #socket: Socket;
  readonly #times: HeartbeatTimes;
  readonly #onSilence: () => void;
  #timer: NodeJS.Timeout;
  #queued = 0;

  /** Begins to beat. `onSilence` is called once when no `pong` came in time. */
  constructor(socket: Socket, times: HeartbeatTimes, onSilence: () => void) {
    this.#socket = socket;
    this.#times = times;
    this.#onSilence = onSilence;
    this.#timer = setTimeout(() => this.#beat(), times.every);
  }

  /** A `pong` came. */
  answered(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#beat(), this.#times.every);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #beat(): void {
    this.#socket.send("ping");
    this.#await();
  }

  #await(): void {
    this.#queued = this.#socket.bufferedAmount;
    this.#timer = setTimeout(() => this.#overdue(), this.#times.pongWithin);
  }

  /** On a slow line the ping may still wait behind a large result: while bytes leave, the link lives. */
  #overdue(): void {
    if (this.#socket.bufferedAmount < this.#queued) this.#await();
    else this.#onSilence();
  }
}
