/**
 * Whether an object's storage accepts writes. A failed write breaks the object: its sockets close and its code stops. So
 * the isolate remembers which objects are waiting for a write to be confirmed. An object that starts and finds itself
 * among them was broken by a failed write, and writes nothing until a probe in another object succeeds.
 */
import { type ErrorShape, MatrxError } from "@matrx/shared/errors.ts";
import { storageFailure } from "../storage-failure.ts";

/** Objects of this isolate that are waiting for a write to be confirmed. */
const unconfirmed = new Set<string>();
/** Objects that cannot write, and why. */
const failing = new Map<string, ErrorShape>();

/** Time between probes, in milliseconds. */
const PROBE_EVERY = 1000;

const UNKNOWN_CAUSE: ErrorShape = {
  code: "UNAVAILABLE",
  message: "The relay cannot write to its storage",
  hint: "Most likely its disk is full: free some space there; meanwhile calls that only read still work",
  hop: "relay",
  details: { storage: "failed" },
};

interface StorageHealthParts {
  /** The object's own id. */
  id: string;
  /** Resolves once everything written so far is confirmed. */
  sync: () => Promise<void>;
  /** Writes in another object, which has no sockets; rejects if that fails. */
  probe: () => Promise<void>;
}

export class StorageHealth {
  readonly #parts: StorageHealthParts;
  #writes = 0;
  #probedAt = 0;

  constructor(parts: StorageHealthParts) {
    this.#parts = parts;
    if (!unconfirmed.delete(parts.id)) return;
    failing.set(parts.id, UNKNOWN_CAUSE);
    this.probe();
  }

  /** Writes fail: optional writes are skipped, and requests that need one are refused. */
  get isFailing(): boolean {
    return failing.has(this.#parts.id);
  }

  /** Notes a write. */
  wrote(): void {
    this.#writes++;
    const { id } = this.#parts;
    if (unconfirmed.has(id)) return;
    unconfirmed.add(id);
    void this.#confirm();
  }

  /** Throws MatrxError `UNAVAILABLE` while writes fail. */
  requireWritable(): void {
    const why = failing.get(this.#parts.id);
    if (!why) return;
    this.probe();
    throw new MatrxError(why);
  }

  /** Checks whether writes work again. */
  probe(): void {
    const now = Date.now();
    if (!this.isFailing || now - this.#probedAt < PROBE_EVERY) return;
    this.#probedAt = now;
    void this.#probe();
  }

  async #probe(): Promise<void> {
    const { id, probe } = this.#parts;
    try {
      await probe();
      failing.delete(id);
    } catch (error) {
      // Another object's database may be new, and failing to create it does not say why.
      const why = storageFailure(error);
      if (why?.details?.storage === "full") failing.set(id, why);
    }
  }

  /** Writes made meanwhile are confirmed by the next round. */
  async #confirm(): Promise<void> {
    for (let before = -1; before !== this.#writes; ) {
      before = this.#writes;
      await this.#parts.sync();
    }
    unconfirmed.delete(this.#parts.id);
  }
}
