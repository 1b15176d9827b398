/** The text heartbeat: the relay's runtime answers it while the Device object hibernates. */
import { TIMES } from "./limits.ts";

export interface HeartbeatTimes {
  every: number;
  pongWithin: number;
}

export const HEARTBEAT: HeartbeatTimes = { every: TIMES.heartbeat, pongWithin: TIMES.pongWithin };

export interface Line {
  ping(): void;
  /** Total bytes that this process has sent. */
  leftBytes(): number;
}

export class Heartbeat {
  readonly #line: Line;
  readonly #times: HeartbeatTimes;
  readonly #onSilence: () => void;
  #timer: ReturnType<typeof setTimeout>;
  #left = 0;
  #isAwaited = false;

  /** Starts the heartbeat. `onSilence` is called once if no `pong` arrives in time. */
  constructor(line: Line, times: HeartbeatTimes, onSilence: () => void) {
    this.#line = line;
    this.#times = times;
    this.#onSilence = onSilence;
    this.#timer = setTimeout(() => this.#beat(), times.every);
  }

  /** Notes a `pong`. */
  answered(): void {
    this.#isAwaited = false;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#beat(), this.#times.every);
  }

  /** Pings now, unless a `pong` is awaited. */
  check(): void {
    if (this.#isAwaited) return;
    clearTimeout(this.#timer);
    this.#beat();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #beat(): void {
    this.#line.ping();
    this.#await();
  }

  #await(): void {
    this.#isAwaited = true;
    this.#left = this.#line.leftBytes();
    this.#timer = setTimeout(() => this.#overdue(), this.#times.pongWithin);
  }

  /** On a slow line the ping may still be queued: as long as bytes are being sent, the link is alive. */
  #overdue(): void {
    if (this.#line.leftBytes() > this.#left) this.#await();
    else this.#onSilence();
  }
}
