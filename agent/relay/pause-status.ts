/** Tells the relay whom this machine is closed to, for its owner to see. It decides nothing there. */
import type { DeviceStatus } from "@matrx/shared/device-frames.ts";
import type { Paused } from "@matrx/shared/paused.ts";
import type { Link } from "./link.ts";

/** The part of pauses that it reports. */
export interface ObservedPause {
  readonly current: Paused | undefined;
  onChange(listener: () => void): void;
}

export class PauseStatus {
  readonly #pause: ObservedPause;
  /** What the relay was last told. */
  #told: Paused | undefined;
  #link: Link | undefined;

  constructor(pause: ObservedPause) {
    this.#pause = pause;
    pause.onChange(() => this.#tell());
  }

  /** The present state, for a registration. */
  fresh(): Paused | undefined {
    this.#told = this.#pause.current;
    return this.#told;
  }

  /** Called when a connection is registered. */
  attach(link: Link): void {
    this.#link = link;
    this.#tell();
  }

  detach(link: Link): void {
    if (this.#link === link) this.#link = undefined;
  }

  #tell(): void {
    const { current } = this.#pause;
    if (!this.#link?.isOpen || !this.#link.wantsStatus || this.#told === current) return;
    this.#told = current;
    this.#link.sendText({ type: "device_status", paused: current ?? null } satisfies DeviceStatus);
  }
}
