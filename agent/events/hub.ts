/** The hub for all events of this machine: stamps them, keeps them for local callers, and sends them to the relay. */
import type { DeviceEvent } from "@matrx/shared/events.ts";
import { makeEventId } from "@matrx/shared/ids.ts";
import type { OpenConditions } from "./open-conditions.ts";
import type { Outbox } from "./outbox.ts";
import type { Report } from "./report.ts";

/** Number of events kept in memory for local callers. */
const KEPT = 100;

/** A connection to the relay, as far as events go. */
export interface EventLink {
  sendText(frame: object): void;
}

export interface EventHubOptions {
  readonly device: string;
  /** Absent: this program has no relay to send to. */
  readonly outbox?: Outbox;
  /** Absent: open conditions are forgotten when the program ends. */
  readonly conditions?: OpenConditions;
  /** Called with each event as it was created. */
  readonly onEvent?: (event: DeviceEvent) => void;
}

export class EventHub {
  readonly #options: EventHubOptions;
  /** By id, newest last. */
  readonly #kept = new Map<string, DeviceEvent>();
  readonly #listeners = new Set<(event: DeviceEvent) => void>();
  #link: EventLink | undefined;
  #lastTime = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: EventHubOptions) {
    this.#options = options;
  }

  /** Turns a report into an event; returns it as it is kept. */
  emit({ type, severity, data, key, resolved, fold }: Report): DeviceEvent {
    const { device, outbox, conditions, onEvent } = this.#options;
    // The relay sorts by the time in the id: if the clock is set back, a condition must not end before it began.
    const now = Math.max(Date.now(), this.#lastTime);
    this.#lastTime = now;
    const event: DeviceEvent = {
      type: "event",
      id: makeEventId(now),
      device_id: device,
      event_type: type,
      severity,
      ...(key !== undefined && { key }),
      ...(resolved && { resolved }),
      data,
      timestamp: new Date(now).toISOString(),
    };
    onEvent?.(event);
    conditions?.note(event);
    const kept = outbox?.put(event, fold, performance.now()) ?? event;
    const isNew = kept.id !== undefined && !this.#kept.has(kept.id);
    this.#keep(kept);
    if (isNew) for (const listener of this.#listeners) listener(kept);
    this.#send();
    return kept;
  }

  /** Calls the listener with each new event, except those folded into an earlier one. Returns a function that unsubscribes. */
  subscribe(listener: (event: DeviceEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The latest events, newest last. */
  recent(): DeviceEvent[] {
    return [...this.#kept.values()];
  }

  /** Keys of open conditions of this type, including those that an earlier run reported. */
  openKeys(type: string): string[] {
    return this.#options.conditions?.of(type) ?? [];
  }

  /** `connected`: all events were sent to the relay; `waiting`: some were not yet; `none`: this program has no relay. */
  get relay(): "connected" | "waiting" | "none" {
    const { outbox } = this.#options;
    if (!outbox) return "none";
    return this.#link && outbox.unsent.waiting === 0 ? "connected" : "waiting";
  }

  attach(link: EventLink): void {
    this.#link = link;
    this.#send();
  }

  detach(link: EventLink): void {
    if (this.#link !== link) return;
    this.#link = undefined;
    clearTimeout(this.#timer);
    this.#options.outbox?.linkLost(performance.now());
  }

  /** Stops sending. Returns how many events never left this machine. */
  close(): { waiting: number; dropped: number } {
    clearTimeout(this.#timer);
    this.#link = undefined;
    return this.#options.outbox?.unsent ?? { waiting: 0, dropped: 0 };
  }

  #send(): void {
    const { outbox } = this.#options;
    const link = this.#link;
    if (!link || !outbox) return;
    for (let event = outbox.take(performance.now()); event; event = outbox.take(performance.now())) {
      this.#keep(event);
      link.sendText(event);
    }
    clearTimeout(this.#timer);
    const wait = outbox.readyIn(performance.now());
    if (wait !== undefined) this.#timer = setTimeout(() => this.#send(), wait).unref();
  }

  /** Replaces an event with the same id. */
  #keep(event: DeviceEvent): void {
    if (event.id === undefined) return;
    this.#kept.set(event.id, event);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }
}
