/** The calls that wait until they may be sent, and what happens to each, as `ledger/approval-state.ts` decides. */
import type { ErrorShape } from "@matrx/shared/errors.ts";
import type { CallId } from "@matrx/shared/ids.ts";
import type { Question } from "@matrx/shared/question.ts";
import type { AccountNews } from "../account-news.ts";
import type { Calls } from "../calls/calls.ts";
import type { DeviceContext } from "../context.ts";
import type { ApprovalRows, Decided } from "../ledger/approval-rows.ts";
import { type ApprovalEvent, isOpen, next } from "../ledger/approval-state.ts";
import type { PendingCall } from "../ledger/call.ts";
import { callApproval, type Parked, type ParkedParts } from "../ledger/parked.ts";
import { approvalView } from "./views.ts";

/** What comes with an event. */
interface Facts {
  readonly question?: Question | undefined;
  readonly decided?: Decided | undefined;
  /** The call's answer, if it is refused. */
  readonly error?: ErrorShape | undefined;
}

export class WaitingCalls {
  readonly rows: ApprovalRows;
  readonly #context: DeviceContext;
  readonly #calls: Calls;
  readonly #news: AccountNews;
  readonly #open = new Map<string, Parked>();
  /** Those that ended while storage took no writes. */
  #unsaved: Parked[] = [];

  constructor(context: DeviceContext, rows: ApprovalRows, parts: { calls: Calls; news: AccountNews }) {
    this.#context = context;
    this.rows = rows;
    this.#calls = parts.calls;
    this.#news = parts.news;
  }

  get size(): number {
    return this.#open.size;
  }

  /** A copy, so that calls may end during iteration. */
  all(): Parked[] {
    return [...this.#open.values()];
  }

  get(call: string): Parked | undefined {
    return this.#open.get(call);
  }

  add(parked: Parked): void {
    this.#open.set(parked.call, parked);
  }

  /** The call itself, while it waits. */
  pendingOf({ call }: Parked): PendingCall | undefined {
    const pending = this.#calls.pendingCalls.get(call);
    return pending?.phase === "parked" ? pending : undefined;
  }

  /** Returns false if the event does nothing in this stage. */
  apply(parked: Parked, event: ApprovalEvent, now: number, facts: Facts = {}): boolean {
    const { to, call } = next(parked.stage, event);
    if (!to) return false;
    parked.stage = to;
    if (!isOpen(to)) this.#open.delete(parked.call);
    this.#write(parked, facts);
    this.#tell(parked, now);
    const pending = this.pendingOf(parked);
    if (call === "refuse" && pending) this.#calls.apply(pending, "refused", now, facts.error);
    return true;
  }

  /** Writes who waits for a call, or since when nobody does. */
  noteWanted(parked: Parked, wanted: Partial<Pick<ParkedParts, "isNameless" | "leftAt">>): void {
    parked.wanted = { ...parked.wanted, ...wanted };
    if (!this.#context.health.isFailing) this.rows.putWanted(parked);
  }

  /** The call ended; if it was still waiting, nothing is left to decide. */
  settled(call: string, now: number): void {
    const parked = this.#open.get(call);
    if (parked && !this.pendingOf(parked)) this.apply(parked, "drop", now);
  }

  /** Writes what could not be written before. */
  flush(): void {
    if (this.#unsaved.length === 0 || this.#context.health.isFailing) return;
    const unsaved = this.#unsaved;
    this.#unsaved = [];
    for (const parked of unsaved) this.rows.put(parked);
  }

  destroy(): void {
    this.#open.clear();
    this.#unsaved = [];
  }

  #write(parked: Parked, { question, decided }: Facts): void {
    if (this.#context.health.isFailing) return void this.#unsaved.push(parked);
    this.rows.put(parked);
    if (question) this.rows.ask(parked, question);
    if (decided) this.rows.decide(parked, decided);
  }

  /** Tells callers and the account; nobody is told of a call that passes without a question. */
  #tell(parked: Parked, now: number): void {
    const approval = callApproval(parked);
    if (!approval || parked.stage === "sent") return;
    const pending = this.pendingOf(parked);
    if (pending) {
      pending.approval = approval;
      if (isOpen(parked.stage))
        for (const recipient of pending.recipients) recipient.asked(approval, pending.call as CallId);
    }
    const row = this.#context.health.isFailing ? undefined : this.rows.find(parked.id);
    if (row) this.#news.approval(approvalView(row, this.#context.device), now);
  }
}
