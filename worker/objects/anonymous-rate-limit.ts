/** Holds strangers to a rate: one object for each address prefix, for the routes that ask for no credential and store something. */
import { DurableObject } from "cloudflare:workers";
import { migrate } from "../storage/migrate.ts";

interface Window {
  began: number;
  passed: number;
}

const WINDOW = 10 * 60_000;
const PASS_MAX = 30;

export class AnonymousRateLimit extends DurableObject {
  constructor(state: DurableObjectState, env: unknown) {
    super(state, env as never);
    migrate(state.storage, []);
  }

  /** Lets one more through: undefined. Or says how many milliseconds to wait. */
  async pass(): Promise<number | undefined> {
    const now = Date.now();
    const kept = this.ctx.storage.kv.get<Window>("window");
    const window = kept && now - kept.began < WINDOW ? kept : { began: now, passed: 0 };
    if (window.passed >= PASS_MAX) return window.began + WINDOW - now;
    this.ctx.storage.kv.put("window", { began: window.began, passed: window.passed + 1 });
    if (window.passed === 0) await this.ctx.storage.setAlarm(now + WINDOW);
    return undefined;
  }

  /** An address that was not seen for a while leaves nothing behind. */
  override async alarm(): Promise<void> {
    await this.ctx.storage.deleteAll();
  }
}
