/** The account's pause, as this device knows it: while it lasts, grants that are not the owner's may do nothing here. */
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import { isClosedTo } from "@matrx/shared/paused.ts";
import type { StorageHealth } from "../storage/health.ts";
import type { Kv } from "../storage/watched.ts";

/** What the Account says with each lease. */
export interface PauseState {
  readonly paused: boolean;
  /** When it changed last, in milliseconds since 1970; each change has a later time. 0: never. */
  readonly at: number;
}

/** What the Account pushes to each device. */
export interface PauseNews extends PauseState {
  /** The last time that everything was stopped, even if it was resumed since; like `at`. */
  readonly stopped: number;
  /** Grants that hold something here, and are not the owner's. */
  readonly grants: readonly GrantId[];
}

/** As stored: `stopped` is the last stop that this device carried out. */
type Kept = Omit<PauseNews, "grants">;

const NEVER: Kept = { paused: false, at: 0, stopped: 0 };
const KEY = "account_pause";

export class AccountPause {
  readonly #kv: Kv;
  readonly #health: Pick<StorageHealth, "isFailing" | "requireWritable">;
  #kept: Kept | undefined;

  constructor(kv: Kv, health: Pick<StorageHealth, "isFailing" | "requireWritable">) {
    this.#kv = kv;
    this.#health = health;
  }

  isClosedTo(grant: Pick<GrantScope, "owner">): boolean {
    return this.#now.paused && isClosedTo("ai", grant);
  }

  /** Throws MatrxError `PERMISSION_DENIED`. */
  requireOpen(grant: Pick<GrantScope, "owner">): void {
    if (this.isClosedTo(grant)) throw accountPausedError();
  }

  /** Holds at once, even if it cannot be written. Returns whether it is news; what is older is ignored. */
  note({ paused, at }: PauseState): boolean {
    if (at <= this.#now.at) return false;
    this.#kept = { ...this.#now, paused, at };
    if (!this.#health.isFailing) this.#kv.put(KEY, this.#kept);
    return true;
  }

  /** Whether this device has yet to carry out a stop. */
  mustStop({ stopped }: Pick<PauseNews, "stopped">): boolean {
    return stopped > this.#now.stopped;
  }

  /** The device has carried out a stop, or had done so before. Throws MatrxError `UNAVAILABLE` if that cannot be written. */
  confirm({ stopped }: Pick<PauseNews, "stopped">): void {
    this.#health.requireWritable();
    const kept = { ...this.#now, stopped: Math.max(stopped, this.#now.stopped) };
    this.#kv.put(KEY, kept);
    this.#kept = kept;
  }

  /** The device was removed. */
  destroy(): void {
    this.#kept = undefined;
  }

  get #now(): Kept {
    this.#kept ??= this.#kv.get<Kept>(KEY) ?? NEVER;
    return this.#kept;
  }
}

const PAUSED = { reason: "PAUSED", paused: "ai" };

/** Why an AI grant's request is refused. The device's own pause gives the same code and reason. */
export function accountPausedError(): MatrxError {
  return relayError("PERMISSION_DENIED", "All AI grants are paused: the owner stopped everything", {
    hint: "Only the owner can resume, on the relay's page or with: matrx resume --everywhere",
    details: PAUSED,
  });
}

/** The answer to a call that the pause ended. */
export function stoppedError(hasRun: boolean): MatrxError {
  const end = hasRun ? "what it did before stays done" : "it did not run";
  return relayError("CANCELLED", `The owner stopped everything that AI grants do: ${end}`, {
    hint: "Ask the owner before you try again",
    details: PAUSED,
  });
}
