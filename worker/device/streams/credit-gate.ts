/** Holds credit back while much is queued where the data would go. */
import { LIMITS } from "@matrx/shared/limits.ts";
import type { RelayStream } from "./stream.ts";

interface Direction {
  /** Bytes queued towards whoever gives this credit, and will get the data. */
  readonly queuedFor: (stream: RelayStream) => number;
  /** Passes credit on. */
  readonly give: (stream: RelayStream, bytes: number) => void;
}

/** How often to look again, in milliseconds: the platform does not say when a queue has drained. */
const LOOK_EVERY = 25;

export class CreditGate {
  readonly #direction: Direction;
  readonly #held = new Map<RelayStream, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(direction: Direction) {
    this.#direction = direction;
  }

  /** Passes credit on, now or later. */
  pass(stream: RelayStream, bytes: number): void {
    const all = bytes + (this.#held.get(stream) ?? 0);
    if (this.#direction.queuedFor(stream) > LIMITS.streamQueuedBytes) return this.#hold(stream, all);
    this.#held.delete(stream);
    this.#direction.give(stream, all);
  }

  /** The stream is over. */
  forget(stream: RelayStream): void {
    this.#held.delete(stream);
  }

  #hold(stream: RelayStream, bytes: number): void {
    this.#held.set(stream, bytes);
    this.#timer ??= setTimeout(() => this.#look(), LOOK_EVERY);
  }

  #look(): void {
    this.#timer = undefined;
    for (const stream of [...this.#held.keys()]) this.pass(stream, 0);
  }
}
