/** Rate-limits anonymous callers: one object per address prefix, for routes that need no credential and store something. */
import { DurableObject } from "cloudflare:workers";
import { type Rate, readyIn, takeOne } from "@matrx/shared/rate-limit.ts";
import { AlarmTable } from "../storage/alarms.ts";
import { migrate } from "../storage/migrate.ts";

/** 30 at once, then one every 20 seconds: 30 in ten minutes. */
const RATE: Rate = { burst: 30, everyMs: 20_000 };
/** The state of the rate. */
const STATE = "rate";

export class AnonymousRateLimit extends DurableObject {
  readonly #alarms: AlarmTable<"forget">;

  constructor(state: DurableObjectState, env: unknown) {
    super(state, env as never);
    migrate(state.storage, []);
    this.#alarms = new AlarmTable(state.storage, { forget: (now) => this.#forget(now) });
  }

  /** Lets one more request through and returns undefined, or returns how many milliseconds to wait. */
  pass(): number | undefined {
    const now = Date.now();
    const state = this.#state();
    const next = takeOne(state, RATE, now);
    if (next === undefined) return readyIn(state, RATE, now);
    this.ctx.storage.kv.put(STATE, next);
    this.#alarms.by("forget", now + RATE.burst * RATE.everyMs);
    return undefined;
  }

  override alarm(): Promise<void> {
    return this.#alarms.ring(Date.now());
  }

  #state(): number {
    return this.ctx.storage.kv.get<number>(STATE) ?? 0;
  }

  /** Once an address has its whole rate again, nothing is stored for it. */
  async #forget(now: number): Promise<number | undefined> {
    const full = this.#state();
    if (full > now) return full;
    await this.ctx.storage.deleteAll();
    return undefined;
  }
}
