/**
 * Sends outcomes to the relay: small ones at once; large ones one at a time, so that small ones pass between them, and
 * only with credit, once the relay says that their readers have room.
 */
import { LIMITS } from "@matrx/shared/limits.ts";
import type { Logger } from "pino";
import type { Outcome } from "../core/answers.ts";
import { ByteBudget } from "../core/byte-budget.ts";
import type { Journal } from "../core/journal.ts";
import type { Link } from "./link.ts";
import { UnsentOutcomes } from "./unsent-outcomes.ts";

interface Asked {
  readonly bytes: number;
  /** Called when there is credit. */
  readonly go: () => void;
}

export interface OutcomeSenderOptions {
  readonly journal: Journal;
  readonly log: Logger;
  /** Makes the outcome for a call whose own is no longer kept. */
  readonly notKept: (call: string, id: string | undefined) => Outcome;
}

/** Bytes of large answers in the making at once: each takes several times its size until it is sent. */
const MADE_AT_ONCE = 24 * 1024 * 1024;
/** The relay may forget requests for credit when it restarts, so they are repeated; in milliseconds. */
const ASK_AGAIN = 10_000;

export class OutcomeSender {
  readonly #options: OutcomeSenderOptions;
  readonly #unsent: UnsentOutcomes;
  readonly #budget = new ByteBudget(MADE_AT_ONCE);
  /** Each call's share of the budget. */
  readonly #shares = new Map<string, () => void>();
  /** Calls waiting for credit. */
  readonly #asked = new Map<string, Asked>();
  /** Calls with credit, whose outcomes are not sent yet. */
  readonly #credited = new Set<string>();
  #link: Link | undefined;
  #lastLarge: Promise<void> = Promise.resolve();
  #again: NodeJS.Timeout | undefined;

  constructor(options: OutcomeSenderOptions) {
    this.#options = options;
    this.#unsent = new UnsentOutcomes(options.journal, options.log);
  }

  attach(link: Link): void {
    this.#link = link;
    this.#askAll();
  }

  detach(link: Link): void {
    if (this.#link !== link) return;
    this.#link = undefined;
    this.#credited.clear();
    this.#unsent.restart();
  }

  /** Resolves once a large answer of this many bytes may be made for a call. Rejects with the signal's reason. */
  async room(call: string, bytes: number, signal: AbortSignal): Promise<void> {
    await this.#creditFor(call, bytes, signal);
    this.#giveBack(call);
    this.#shares.set(call, await this.#budget.take(bytes, signal));
  }

  /** The relay gives credit for these calls. */
  credit(calls: readonly string[]): void {
    for (const call of calls) {
      const asked = this.#asked.get(call);
      if (!asked) continue;
      this.#asked.delete(call);
      this.#credited.add(call);
      asked.go();
    }
  }

  /**
   * Sends the outcome of a call that has ended, or keeps it until that is possible. Resolves when this process has sent or
   * kept it; never rejects. `id` is the caller's.
   */
  async send(outcome: Outcome, id?: string): Promise<void> {
    const { call } = outcome.header;
    this.#asked.delete(call);
    if (!this.#link?.isOpen) this.#keep(outcome, id);
    else if (outcome.body.length <= LIMITS.largeAnswerBytes) await this.#transmit(outcome, id);
    else if (this.#link.creditAbove === undefined || this.#credited.has(call)) await this.#queue(outcome, id);
    else this.#hold(outcome, id);
  }

  /** Sends a kept outcome. Returns whether there was one. */
  sendKept(call: string): boolean {
    if (this.#asked.has(call)) return true;
    if (!this.#unsent.has(call)) return false;
    const kept = this.#unsent.idOfRead(call);
    void this.send(this.#unsent.take(call) ?? this.#options.notKept(call, kept?.id), kept?.id);
    return true;
  }

  /** Drops a read's outcome that its reader no longer wants; returns the caller's id. An effect's outcome stays. */
  dropRead(call: string): { id: string | undefined } | undefined {
    const read = this.#asked.has(call) ? this.#unsent.idOfRead(call) : undefined;
    if (read) this.#unsent.drop(call);
    return read;
  }

  /** Whether the call's outcome is waiting here. */
  isKept(call: string): boolean {
    return this.#unsent.has(call);
  }

  /** Whether the call's outcome is being sent. */
  isLeaving(call: string): boolean {
    return this.#credited.has(call);
  }

  close(): void {
    clearInterval(this.#again);
  }

  #creditFor(call: string, bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const leave = () => {
        this.#asked.delete(call);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#ask(call, {
        bytes,
        go: () => {
          signal.removeEventListener("abort", leave);
          resolve();
        },
      });
    });
  }

  #ask(call: string, asked: Asked): void {
    this.#asked.set(call, asked);
    this.#again ??= setInterval(() => this.#askAll(), ASK_AGAIN).unref();
    this.#request(call, asked);
  }

  #askAll(): void {
    for (const [call, asked] of [...this.#asked]) this.#request(call, asked);
    if (this.#asked.size > 0) return;
    clearInterval(this.#again);
    this.#again = undefined;
  }

  #request(call: string, { bytes }: Asked): void {
    const link = this.#link;
    if (!link?.isOpen) return;
    if (link.creditAbove === undefined || bytes <= link.creditAbove) this.credit([call]);
    else link.sendText({ type: "credit_request", tool_call_id: call, bytes });
  }

  /** Holds an answer that is already made until the relay has room. */
  #hold(outcome: Outcome, id: string | undefined): void {
    const { call } = outcome.header;
    this.#unsent.put(outcome, id);
    this.#giveBack(call);
    const go = () => void this.#queue(this.#unsent.take(call) ?? this.#options.notKept(call, id), id);
    this.#ask(call, { bytes: outcome.body.length, go });
  }

  #queue(outcome: Outcome, id: string | undefined): Promise<void> {
    this.#lastLarge = this.#lastLarge.then(() => this.#transmit(outcome, id));
    return this.#lastLarge;
  }

  /** Resolves when this process has sent or kept it. */
  async #transmit(outcome: Outcome, id: string | undefined): Promise<void> {
    const { call } = outcome.header;
    if (this.#link?.isOpen) await this.#link.sendOutcome(outcome);
    else this.#keep(outcome, id);
    this.#credited.delete(call);
    this.#giveBack(call);
  }

  /** No connection is up. What the journal has will be sent from there. */
  #keep(outcome: Outcome, id: string | undefined): void {
    const { call } = outcome.header;
    if (!this.#options.journal.holds(call)) this.#unsent.put(outcome, id);
    for (const expired of this.#unsent.expire()) this.#asked.delete(expired);
    this.#giveBack(call);
  }

  #giveBack(call: string): void {
    this.#shares.get(call)?.();
    this.#shares.delete(call);
  }
}
