/**
 * Pairing and login codes (RFC 8628 pattern). One object per first character rather than per code: an object's file is
 * never deleted, and anybody can make up codes (docs/decisions/0011-pairing-codes.md).
 */
import { DurableObject } from "cloudflare:workers";
import type { newPairingSchema, pairingViewSchema } from "@matrx/shared/api.ts";
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { type Rate, TokenBucket } from "@matrx/shared/rate-limit.ts";
import { retryIn } from "@matrx/shared/retry.ts";
import type * as z from "zod";
import { attempt, type Outcome } from "../outcome.ts";
import { AlarmTable } from "../storage/alarms.ts";
import { migrate } from "../storage/migrate.ts";
import { PAIRING } from "../storage/migrations.ts";

export type PairingWish =
  | { kind: "device"; device: z.infer<typeof newPairingSchema>; fingerprint: string }
  | { kind: "login"; name: string };

/** What the asker gets once a signed-in person has confirmed. */
export type PairingAnswer =
  | { kind: "device"; account: string; device: string; name: string }
  | { kind: "login"; account: string; grant: string; expires: number };

/** The row of one code, kept until it expires. */
interface Row {
  wish: PairingWish;
  /** Milliseconds since 1970. */
  expires: number;
  /** Somebody is confirming it. */
  taken?: boolean;
  answer?: PairingAnswer;
}

/** Prefix of a code's row key. */
const CODE = "code:";
/** How many codes may wait in one object. */
const WAITING_MAX = 1000;
/** How often one code may be polled: 20 times at once, then each second. */
const POLLS: Rate = { burst: 20, everyMs: 1000 };

export class Pairing extends DurableObject {
  readonly #alarms: AlarmTable<"expiry">;
  readonly #polls = new Map<string, TokenBucket>();

  constructor(state: DurableObjectState, env: unknown) {
    super(state, env as never);
    migrate(state.storage, PAIRING);
    this.#alarms = new AlarmTable(state.storage, { expiry: (now) => this.#prune(now).next });
  }

  /** Opens a code for a wish. Returns false if the code is in use. Throws MatrxError `UNAVAILABLE` when too many wait. */
  open(code: string, wish: PairingWish): Promise<Outcome<boolean>> {
    return attempt(() => {
      const now = Date.now();
      const { rows } = this.#prune(now);
      if (rows >= WAITING_MAX) throw tooManyWait();
      if (this.#row(code)) return false;
      this.#put(code, { wish, expires: now + TIMES.pairing });
      this.#alarms.by("expiry", now + TIMES.pairing);
      return true;
    });
  }

  view(code: string): Promise<Outcome<z.infer<typeof pairingViewSchema>>> {
    return attempt(() => {
      const { wish, expires } = this.#waiting(code);
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

  /** Takes the wish in order to confirm it; a second confirmation finds none. */
  take(code: string): Promise<Outcome<PairingWish>> {
    return attempt(() => {
      const row = this.#waiting(code);
      this.#put(code, { ...row, taken: true });
      return row.wish;
    });
  }

  answer(code: string, answer: PairingAnswer): void {
    const row = this.#row(code);
    if (row) this.#put(code, { ...row, answer });
  }

  /**
   * Returns the asker's answer, or undefined while it waits. A login's answer is worth a token, so it is given once; a
   * device's holds no secret, and may be fetched again if it was lost in transit.
   */
  poll(code: string): Promise<Outcome<PairingAnswer | undefined>> {
    return attempt(() => {
      const row = this.#row(code);
      if (!row) throw gone();
      this.#countPoll(code, Date.now());
      if (row.answer?.kind === "login") this.ctx.storage.kv.delete(CODE + code);
      return row.answer;
    });
  }

  /** In memory: while somebody asks too often, this object does not sleep. */
  #countPoll(code: string, now: number): void {
    const polls = this.#polls.get(code) ?? new TokenBucket(POLLS, now);
    this.#polls.set(code, polls);
    if (polls.take(now)) return;
    throw relayError(
      "RATE_LIMITED",
      "You ask too often whether this code was approved",
      retryIn(polls.readyIn(now)),
    );
  }

  override alarm(): Promise<void> {
    return this.#alarms.ring(Date.now());
  }

  /** Removes expired codes; returns how many wait, and when the first of them expires. */
  #prune(now: number): { rows: number; next: number | undefined } {
    const { kv } = this.ctx.storage;
    let rows = 0;
    let next: number | undefined;
    for (const [key, { expires }] of [...kv.list<Row>({ prefix: CODE })]) {
      if (expires <= now) {
        kv.delete(key);
        this.#polls.delete(key.slice(CODE.length));
      } else {
        rows++;
        next = Math.min(next ?? expires, expires);
      }
    }
    return { rows, next };
  }

  #put(code: string, row: Row): void {
    this.ctx.storage.kv.put(CODE + code, row);
  }

  #row(code: string): Row | undefined {
    const row = this.ctx.storage.kv.get<Row>(CODE + code);
    return row && row.expires > Date.now() ? row : undefined;
  }

  #waiting(code: string): Row {
    const row = this.#row(code);
    if (!row || row.answer || row.taken) throw gone();
    return row;
  }
}

/** The object that is responsible for a code. */
export function pairingOf(
  pairings: DurableObjectNamespace<Pairing>,
  code: string,
): DurableObjectStub<Pairing> {
  return pairings.getByName(code.charAt(0));
}

function gone(): MatrxError {
  return relayError("NOT_FOUND", "This code is wrong, was already used, or has expired", {
    hint: "Start again for a new code; codes are valid for ten minutes",
  });
}

function tooManyWait(): MatrxError {
  return relayError("UNAVAILABLE", "Too many pairings are waiting for approval at this relay", {
    hint: "Try again in ten minutes",
  });
}
