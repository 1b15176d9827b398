/** Gives the record's end to our agent, which keeps it: so whoever changed the record later can be found out. */
import type { AuditHead, SignedHead } from "@matrx/shared/audit.ts";
import type { ToDevice } from "@matrx/shared/device-frames.ts";
import { logWarning } from "../../log.ts";

interface HeadsHost {
  readonly sign: (head: AuditHead) => Promise<SignedHead>;
  readonly head: () => Promise<AuditHead>;
  /** Whether the device is connected and keeps heads. */
  readonly isWanted: () => boolean;
  readonly send: (frame: Extract<ToDevice, { type: "audit_head" }>) => void;
}

/** While calls go on, an agent gets at most one in so many milliseconds. */
const EVERY = 60_000;

export class Heads {
  readonly #host: HeadsHost;
  #toldAt = Number.NEGATIVE_INFINITY;
  #untold: AuditHead | undefined;

  constructor(host: HeadsHost) {
    this.#host = host;
  }

  /** The record grew. */
  grew(head: AuditHead, now: number): void {
    this.#untold = head;
    if (this.#host.isWanted() && now - this.#toldAt >= EVERY) void this.#tell(head, now);
  }

  /** Nothing is called any more: the last head is given, too. */
  quiet(now: number): void {
    if (this.#untold && this.#host.isWanted()) void this.#tell(this.#untold, now);
  }

  /** An agent connected. */
  connected(now: number): void {
    this.#host.head().then(
      (head) => this.#tell(head, now),
      (error: unknown) => logWarning("the record's head was not read", error),
    );
  }

  async #tell(head: AuditHead, now: number): Promise<void> {
    if (head.seq === 0) return;
    this.#toldAt = now;
    this.#untold = undefined;
    try {
      const signed = await this.#host.sign(head);
      if (this.#host.isWanted()) this.#host.send({ type: "audit_head", ...signed });
    } catch (error) {
      logWarning("the record's head was not signed", error);
    }
  }
}
