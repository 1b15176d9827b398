/** Tells the account what waits for a decision and what became of it: pushed until acknowledged. */
import type { ApprovalView } from "@matrx/shared/approval.ts";
import type { AccountId, GrantId } from "@matrx/shared/ids.ts";
import { logWarning } from "../../log.ts";
import { Outbox } from "../../outbox.ts";
import type { DeviceContext } from "../context.ts";
import { approvalDraft } from "../observing/drafts.ts";

/** Delay before an interrupted push is retried, in milliseconds. */
const PUSH_AGAIN = 60_000;

export class ApprovalNews {
  readonly #context: DeviceContext;
  readonly #outbox: Outbox;
  readonly #flushBy: (at: number) => void;

  /** `flushBy` schedules `flush`, also for an object that sleeps. */
  constructor(context: DeviceContext, flushBy: (at: number) => void) {
    this.#context = context;
    this.#flushBy = flushBy;
    this.#outbox = new Outbox(context.storage.sql, (account, body) =>
      context.env.ACCOUNT.getByName(account as AccountId).noteApproval(JSON.parse(body) as ApprovalView),
    );
  }

  tell(approval: ApprovalView, now: number): void {
    const { store, health, leases, audit } = this.#context;
    if (!store.record) return;
    const holder = leases.current(approval.grant as GrantId, now)?.holder;
    audit.keep(approvalDraft(approval, holder, now), now);
    if (health.isFailing) return;
    this.#outbox.enqueue(store.record.account, JSON.stringify(approval), now);
    // Set before the first attempt: if this object dies before the acknowledgement, the alarm pushes again.
    this.#flushBy(now + PUSH_AGAIN);
    this.flush(now).then(
      (next) => next && this.#flushBy(next),
      (error: unknown) => logWarning("an approval could not be pushed yet", error),
    );
  }

  /** Returns when the next push is due. */
  async flush(now: number): Promise<number | undefined> {
    const { store, health } = this.#context;
    if (!store.record) return undefined;
    return health.isFailing ? now + PUSH_AGAIN : this.#outbox.flush(now);
  }
}
