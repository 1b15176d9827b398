/** Where all events of this machine meet: stamped, kept for local callers, and sent to the relay when there is a link. */
import type { DeviceEvent } from "@matrx/shared/events.ts";
import { makeEventId } from "@matrx/shared/ids.ts";
import type { OpenConditions } from "./open-conditions.ts";
import type { Outbox } from "./outbox.ts";
import type { Report } from "./report.ts";

/** Events kept in memory for local callers. */
const KEPT = 100;

/** A connection to the relay, as far as events go. */
export interface EventLink {
  sendText(frame: object): void;
}

export interface EventHubOptions {
  readonly device: string;
  /** Absent: this program has no relay to send to. */
  readonly outbox?: Outbox;
  /** Absent: conditions are forgotten at the end. */
  readonly conditions?: OpenConditions;
  /** Hears of each event as it was made. */
  readonly onEvent?: (event: DeviceEvent) => void;
}

export class EventHub {
  readonly #options: EventHubOptions;
  /** By id, the newest last. */
  readonly #kept = new Map<string, DeviceEvent>();
  readonly #listeners = new Set<(event: DeviceEvent) => void>();
  #link: EventLink | undefined;
  #lastTime = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: EventHubOptions) {
    this.#options = options;
  }

  /** Makes an event of a report; returns it as it is kept. */
  emit({ type, severity, data, key, resolved, fold }: Report): DeviceEvent {
    const { device, outbox, conditions, onEvent } = this.#options;
    // The relay orders by the time in the id: a clock that is set back must not make an end older than its beginning.
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

  /** Tells of each new event from now on; one that was joined into an earlier one is not new. Returns what ends it. */
  subscribe(listener: (event: DeviceEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The last events, the newest last. */
  recent(): DeviceEvent[] {
    return [...this.#kept.values()];
  }

  /** Keys of conditions of this type that were reported and are not over, also by an earlier run. */
  openKeys(type: string): string[] {
    return this.#options.conditions?.of(type) ?? [];
  }

  /** Whether all events have left for the relay, some wait, or none ever leaves. */
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

  /** Events that never left this machine. */
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

  /** An event that was kept before is kept as it stands now. */
  #keep(event: DeviceEvent): void {
    if (event.id === undefined) return;
    this.#kept.set(event.id, event);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }
}
