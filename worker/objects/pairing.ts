/** One pairing or login code (RFC 8628 pattern): lives ten minutes, answers once. */
import { DurableObject } from "cloudflare:workers";
import type { newPairingSchema, pairingViewSchema } from "@matrx/shared/api.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import type * as z from "zod";
import { attempt, type Outcome } from "../outcome.ts";

export type PairingWish =
  | { kind: "device"; device: z.infer<typeof newPairingSchema>; fingerprint: string }
  | { kind: "login"; name: string };

/** What the asker gets once a signed-in person has confirmed. */
export type PairingAnswer =
  | { kind: "device"; account: string; device: string; name: string }
  | { kind: "login"; account: string; grant: string; expires: number };

interface Row {
  wish: PairingWish;
  expires: number;
  answer?: PairingAnswer;
}

export class Pairing extends DurableObject {
  /** Opens the code for a wish. False: it is in use. */
  async open(wish: PairingWish): Promise<boolean> {
    if (this.#row()) return false;
    const expires = Date.now() + TIMES.pairing;
    this.ctx.storage.kv.put("row", { wish, expires } satisfies Row);
    await this.ctx.storage.setAlarm(expires + TIMES.pairing);
    return true;
  }

  view(): Promise<Outcome<z.infer<typeof pairingViewSchema>>> {
    return attempt(() => {
      const { wish, expires } = this.#waiting();
      const device = wish.kind === "device" ? wish.device : undefined;
      return {
        kind: wish.kind,
        name: device?.name ?? (wish.kind === "login" ? wish.name : ""),
        hostname: device?.hostname ?? null,
        os: device?.os ?? null,
        os_version: device?.os_version ?? null,
        fingerprint: wish.kind === "device" ? wish.fingerprint : null,
        expires: new Date(expires).toISOString(),
      };
    });
  }

  /** Takes the wish for confirming; a second confirmation finds none. */
  take(): Promise<Outcome<PairingWish>> {
    return attempt(() => {
      const row = this.#waiting();
      this.ctx.storage.kv.put("taken", true);
      return row.wish;
    });
  }

  answer(answer: PairingAnswer): void {
    const row = this.#row();
    if (row) this.ctx.storage.kv.put("row", { ...row, answer });
  }

  /** What the asker is told: an answer, or undefined while it waits. The code ends with its answer. */
  poll(): Promise<Outcome<PairingAnswer | undefined>> {
    return attempt(() => {
      const row = this.#row();
      if (!row) throw gone();
      return row.answer;
    });
  }

  override async alarm(): Promise<void> {
    await this.ctx.storage.deleteAll();
  }

  #row(): Row | undefined {
    const row = this.ctx.storage.kv.get<Row>("row");
    return row && (row.answer || row.expires > Date.now()) ? row : undefined;
  }

  #waiting(): Row {
    const row = this.#row();
    if (!row || row.answer || this.ctx.storage.kv.get("taken")) throw gone();
    return row;
  }
}

function gone(): MatrxError {
  return new MatrxError({
    code: "NOT_FOUND",
    message: "This code is wrong, was already used, or has expired",
    hint: "Start again for a new code; codes are valid for ten minutes",
    hop: "relay",
  });
}
