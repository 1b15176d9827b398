/** Tells the account what happened here: pushed until acknowledged. */
import type { ApprovalView } from "@matrx/shared/approval.ts";
import type { AccountId, GrantId } from "@matrx/shared/ids.ts";
import { logWarning } from "../log.ts";
import { Outbox } from "../outbox.ts";
import type { Alert } from "../push/news.ts";
import type { DeviceContext } from "./context.ts";
import { approvalDraft } from "./observing/drafts.ts";

/** As it is stored: an approval, or an event that warns. */
type News = ApprovalView | { readonly alert: Alert };

/** Delay before an interrupted push is retried, in milliseconds. */
const PUSH_AGAIN = 60_000;

export class AccountNews {
  readonly #context: DeviceContext;
  readonly #outbox: Outbox;
  readonly #flushBy: (at: number) => void;

  /** `flushBy` schedules `flush`, also for an object that sleeps. */
  constructor(context: DeviceContext, flushBy: (at: number) => void) {
    this.#context = context;
    this.#flushBy = flushBy;
    this.#outbox = new Outbox(context.storage.sql, (account, body) =>
      this.#deliver(account as AccountId, JSON.parse(body) as News),
    );
  }

  /** What waits for a decision, and what became of it; the record is told, too. */
  approval(approval: ApprovalView, now: number): void {
    const { store, leases, audit } = this.#context;
    if (!store.record) return;
    const holder = leases.current(approval.grant as GrantId, now)?.holder;
    audit.keep(approvalDraft(approval, holder, now), now);
    this.#tell(approval, now);
  }

  alert(alert: Alert, now: number): void {
    this.#tell({ alert }, now);
  }

  /** Returns when the next push is due. */
  async flush(now: number): Promise<number | undefined> {
    const { store, health } = this.#context;
    if (!store.record) return undefined;
    return health.isFailing ? now + PUSH_AGAIN : this.#outbox.flush(now);
  }

  #tell(news: News, now: number): void {
    const { store, health } = this.#context;
    if (!store.record || health.isFailing) return;
    this.#outbox.enqueue(store.record.account, JSON.stringify(news), now);
    // Set before the first attempt: if this object dies before the acknowledgement, the alarm pushes again.
    this.#flushBy(now + PUSH_AGAIN);
    this.flush(now).then(
      (next) => next && this.#flushBy(next),
      (error: unknown) => logWarning("news for the account could not be pushed yet", error),
    );
  }

  #deliver(account: AccountId, news: News): Promise<void> {
    const told = this.#context.env.ACCOUNT.getByName(account);
    return "alert" in news ? told.noteAlert(this.#context.device, news.alert) : told.noteApproval(news);
  }
}
