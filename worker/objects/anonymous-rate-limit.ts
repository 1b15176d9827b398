/** Rate-limits anonymous callers: one object per address prefix, for routes that need no credential and store something. */
import { DurableObject } from "cloudflare:workers";
import { AlarmTable } from "../storage/alarms.ts";
import { migrate } from "../storage/migrate.ts";

interface Window {
  began: number;
  passed: number;
}

const WINDOW = 10 * 60_000;
const PASS_MAX = 30;

export class AnonymousRateLimit extends DurableObject {
  readonly #alarms: AlarmTable<"forget">;

  constructor(state: DurableObjectState, env: unknown) {
    super(state, env as never);
    migrate(state.storage, []);
    this.#alarms = new AlarmTable(state.storage, { forget: () => this.#forget() });
  }

  /** Lets one more request through and returns undefined, or returns how many milliseconds to wait. */
  pass(): number | undefined {
    const now = Date.now();
    const kept = this.ctx.storage.kv.get<Window>("window");
    const window = kept && now - kept.began < WINDOW ? kept : { began: now, passed: 0 };
    if (window.passed >= PASS_MAX) return window.began + WINDOW - now;
    this.ctx.storage.kv.put("window", { began: window.began, passed: window.passed + 1 });
    this.#alarms.by("forget", window.began + WINDOW);
    return undefined;
  }

  override alarm(): Promise<void> {
    return this.#alarms.ring(Date.now());
  }

  /** Once an address has been quiet for a while, nothing is stored for it. */
  async #forget(): Promise<undefined> {
    await this.ctx.storage.deleteAll();
  }
}
