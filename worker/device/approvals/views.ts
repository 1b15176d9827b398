/** An approval as a person sees it. */
import type { ApprovalDetail, ApprovalView, Reach } from "@matrx/shared/approval.ts";
import type { Effect } from "@matrx/shared/effects.ts";
import type { Question } from "@matrx/shared/question.ts";
import type { ApprovalRow } from "../ledger/approval-rows.ts";
import type { Stage } from "../ledger/approval-state.ts";
import { isDeserted, stateOf } from "../ledger/parked.ts";

const iso = (ms: number) => new Date(ms).toISOString();

/** The account adds the grant's name. */
export function approvalView(row: ApprovalRow, device: string): ApprovalView {
  return {
    id: row.id,
    device,
    call: row.call,
    grant: row.grant_id,
    grant_name: null,
    tool: row.tool,
    effect: row.effect as Effect,
    summary: row.summary ?? "",
    state: stateOf(row.stage as Stage),
    at: row.at === "machine" ? row.at : null,
    created: iso(row.created),
    expires: iso(row.expires),
    decided: row.decided === null ? null : iso(row.decided),
    decided_by: row.decided_by,
    for: row.reach as Reach | null,
    edited: row.edited === 1,
    note: row.note,
    ...(isDeserted(row) && { caller_gone: true }),
  };
}

export function approvalDetail(row: ApprovalRow, device: string): ApprovalDetail {
  const question = JSON.parse(row.question ?? "{}") as Question;
  return { ...approvalView(row, device), question, binding: row.binding ?? "" };
}
