/** What devices tell their account by themselves. One that was removed meanwhile is not heard. */
import type { ApprovalView } from "@matrx/shared/approval.ts";
import type { DeviceId, GrantId } from "@matrx/shared/ids.ts";
import type { Alert, LongCall } from "../push/news.ts";
import { APPROVALS_KEPT } from "./approvals.ts";
import type { AccountContext } from "./context.ts";

export class DeviceReports {
  readonly #context: AccountContext;

  constructor(context: AccountContext) {
    this.#context = context;
  }

  /** What waits for a decision there, or what became of it. */
  approval(approval: ApprovalView): void {
    const { devices, grants, approvals, alarms, people, push } = this.#context;
    const { device, grant } = approval;
    if (!devices.has(device)) return;
    const now = Date.now();
    const grant_name = grants.find(grant as GrantId, now)?.name ?? null;
    const noted = approvals.note({ ...approval, grant_name }, now);
    alarms.by("expiry", now + APPROVALS_KEPT);
    if (!noted) return;
    people.tell({ type: "approval", approval: noted }, now);
    push.approval(noted, now);
  }

  /** An event that warns. */
  alert(device: DeviceId, alert: Alert): void {
    const { devices, push } = this.#context;
    if (devices.has(device)) push.alert(device, alert, Date.now());
  }

  /** Long calls that ended. */
  longCalls(device: DeviceId, calls: LongCall[]): void {
    const { devices, push } = this.#context;
    if (!devices.has(device)) return;
    for (const call of calls) push.finished(device, call, Date.now());
  }
}
