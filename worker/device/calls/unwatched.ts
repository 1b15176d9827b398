/** Calls on the device that nobody has waited for since the object slept: only the ledger knows of them. */
import type { Effect } from "@matrx/shared/effects.ts";
import type { CallId, GrantId } from "@matrx/shared/ids.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import type { PendingCall } from "../ledger/call.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { PendingCalls } from "../ledger/pending.ts";

export function unwatchedCalls(ledger: Ledger, pendingCalls: PendingCalls): PendingCall[] {
  return ledger
    .list(undefined, { state: "accepted", limit: LIMITS.unansweredPerDevice })
    .filter(({ call }) => !pendingCalls.get(call))
    .map(({ call, tool, effect, grant_id, created, deadline }) => ({
      ...{ call: call as CallId, tool, effect: effect as Effect, grant: grant_id as GrantId },
      ...{ created, deadline, recipients: [], phase: "in_doubt", recorded: true, missed: 0 },
    }));
}
