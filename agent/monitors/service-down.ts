/** `service_down`: a service of the home network does not answer, several times in a row. */
import { Conditions, type MonitorParts } from "./condition.ts";
import { type Repeated, repeat } from "./repeat.ts";
import { addressOf, type CheckService, type Service } from "./service-check.ts";

export interface ServiceSettings {
  readonly every_seconds: number;
  readonly timeout_seconds: number;
  /** A service counts as down after this many failures in a row. */
  readonly failures: number;
}

/** While its state is in doubt, it is checked more often, in milliseconds. */
const DOUBT_EVERY = 10_000;
/** It counts as back only after this many answers in a row: a service in a restart loop is not up. */
const ANSWERS = 2;

/** What the checks of one service mean. */
export class ServiceWatch {
  readonly #service: Service;
  readonly #conditions: Conditions;
  readonly #needed: number;
  #failures = 0;
  #answers = 0;
  #downSince: number | undefined;

  constructor(service: Service, conditions: Conditions, failures: number) {
    this.#service = service;
    this.#conditions = conditions;
    this.#needed = failures;
  }

  /** Takes why the service is down, or undefined. `now` in milliseconds since 1970. Tells whether it is in doubt. */
  look(why: string | undefined, now: number): boolean {
    return why === undefined ? this.#answered(now) : this.#failed(why, now);
  }

  #failed(why: string, now: number): boolean {
    this.#answers = 0;
    this.#failures++;
    this.#downSince ??= now;
    if (this.#failures < this.#needed) return true;
    const since = new Date(this.#downSince).toISOString();
    const failures = this.#failures;
    this.#conditions.raise(this.#service.name, "critical", { ...this.#facts, reason: why, failures, since });
    return false;
  }

  #answered(now: number): boolean {
    this.#answers++;
    const isDown = this.#conditions.open.includes(this.#service.name);
    if (isDown && this.#answers < ANSWERS) return true;
    const down = this.#downSince;
    const seconds = down === undefined ? {} : { down_seconds: Math.round((now - down) / 1000) };
    this.#conditions.clear(this.#service.name, { ...this.#facts, ...seconds });
    this.#failures = 0;
    this.#downSince = undefined;
    return false;
  }

  get #facts() {
    return { service: this.#service.name, address: addressOf(this.#service) };
  }
}

export function watchServices(
  services: readonly Service[],
  { every_seconds, timeout_seconds, failures }: ServiceSettings,
  parts: MonitorParts & { readonly check: CheckService },
): Repeated {
  const conditions = new Conditions("service_down", parts.emit, parts.openKeys("service_down"));
  const named = new Set(services.map(({ name }) => name));
  for (const key of conditions.open) {
    if (!named.has(key)) conditions.clear(key, { service: key, unwatched: true });
  }
  const everyMs = every_seconds * 1000;
  const watches = services.map((service) => {
    const watch = new ServiceWatch(service, conditions, failures);
    return repeat({
      async look(stop) {
        const signal = AbortSignal.any([stop, AbortSignal.timeout(timeout_seconds * 1000)]);
        const why = await parts.check(service, signal);
        if (stop.aborted) return everyMs;
        return watch.look(why, Date.now()) ? Math.min(everyMs, DOUBT_EVERY) : everyMs;
      },
      againMs: everyMs,
      onEnd: (failure) => parts.onLook(`service_down ${service.name}`, failure),
    });
  });
  return {
    close() {
      for (const watch of watches) watch.close();
    },
  };
}
