/** One-use tickets: redeemed durably, because an object may hibernate within their 30 seconds. */
import { MatrxError } from "@matrx/shared/errors.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { unauthenticated } from "../../auth/keys.ts";
import type { StorageHealth } from "../../storage/health.ts";
import type { Kv } from "../../storage/watched.ts";

export class Tickets {
  readonly #kv: Kv;
  readonly #health: Pick<StorageHealth, "requireWritable">;

  constructor(kv: Kv, health: Pick<StorageHealth, "requireWritable">) {
    this.#kv = kv;
    this.#health = health;
  }

  /**
   * `ticket` is `<device> <id>`. Throws MatrxError `UNAUTHENTICATED` if it was used or is for another device, and
   * `UNAVAILABLE` if its use cannot be stored.
   */
  redeem(ticket: string, device: string, now: number): void {
    const [forDevice, id] = ticket.split(" ", 2);
    const key = `ticket:${id}`;
    const hint = "POST /v1/tickets gives a new one";
    if (forDevice !== device) throw new MatrxError(unauthenticated("The ticket is for another device", hint));
    if (this.#kv.get(key) !== undefined)
      throw new MatrxError(unauthenticated("The ticket has already been used", hint));
    this.#health.requireWritable();
    this.#prune(now);
    this.#kv.put(key, now + 2 * TIMES.ticket);
  }

  #prune(now: number): void {
    for (const [key, expires] of this.#kv.list<number>({ prefix: "ticket:" })) {
      if (expires < now) this.#kv.delete(key);
    }
  }
}
