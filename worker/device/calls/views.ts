/** Calls as their callers see them: a record with its outcome, and a page of a grant's calls, those in flight included. */

import type { CallList, CallQuery, CallView, ListedCall } from "@matrx/shared/api.ts";
import type { CallApproval } from "@matrx/shared/approval.ts";
import type { DeviceId, GrantId } from "@matrx/shared/ids.ts";
import type { Lease } from "../leases.ts";
import type { PendingCall } from "../ledger/call.ts";
import type { Ledger, LedgerRow, LedgerState } from "../ledger/ledger.ts";
import type { PendingCalls } from "../ledger/pending.ts";
import { readAnswer } from "./device-answer.ts";

/** A row as its caller sees it; `outcome` is the stored answer. */
export function callView(row: LedgerRow, device: string, approval: CallApproval | undefined): CallView {
  return { ...listedCall(row, device, approval), ...(row.outcome && { outcome: readAnswer(row.outcome) }) };
}

/** A row in a list. */
function listedCall(row: LedgerRow, device: string, approval: CallApproval | undefined): ListedCall {
  const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  return {
    call: row.call,
    device,
    tool: row.tool,
    state: row.state as LedgerState,
    created: new Date(row.created).toISOString(),
    deadline: new Date(row.deadline).toISOString(),
    finished: iso(row.finished),
    status: row.status as CallView["status"],
    code: row.code as CallView["code"],
    outcome_in: row.outcome ? "here" : row.state === "finished" && row.bytes !== null ? "journal" : null,
    ...(approval && { approval }),
  };
}

interface CallListParts {
  device: DeviceId;
  pendingCalls: PendingCalls;
  ledger: Ledger;
}

/** One page, newest first. */
export function listCalls(
  { device, pendingCalls, ledger }: CallListParts,
  { scope }: Lease,
  query: CallQuery,
): CallList {
  const grant = scope.owner ? undefined : (scope.id as GrantId);
  const { state, before, limit } = query;
  const mayBe = (pending: PendingCall) =>
    !pending.recorded &&
    pending.phase !== "parked" &&
    (grant === undefined || pending.grant === grant) &&
    (before === undefined || pending.call < before);
  // A pending call with a row is a fetch from the journal.
  const reads = (state ?? "accepted") === "accepted" ? pendingCalls.all().filter(mayBe) : [];
  const underWay = reads
    .filter(({ call }) => !ledger.find(call))
    .map((pending) => listedPending(pending, device));
  const recorded = ledger
    .list(grant, { ...query, limit: limit + 1 })
    .map((row) => listedCall(row, device, pendingCalls.get(row.call)?.approval));
  const all = [...underWay, ...recorded].sort((a, b) => (a.call < b.call ? 1 : -1));
  const calls = all.slice(0, limit);
  return { device, calls, next: all.length > limit ? (calls.at(-1)?.call ?? null) : null };
}

function listedPending({ call, tool, created, deadline }: PendingCall, device: DeviceId): ListedCall {
  return {
    ...{ call, device, tool, state: "accepted", finished: null, status: null, code: null, outcome_in: null },
    created: new Date(created).toISOString(),
    deadline: new Date(deadline).toISOString(),
  };
}
