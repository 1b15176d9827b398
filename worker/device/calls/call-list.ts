/** The calls of a grant, or of all for the owner: from the ledger, and reads that are under way. */
import type { CallList, CallQuery, ListedCall } from "@matrx/shared/api.ts";
import type { DeviceId, GrantId } from "@matrx/shared/ids.ts";
import type { Lease } from "../leases.ts";
import { type Ledger, listedCall } from "./ledger.ts";
import type { Flight, Flights } from "./pending.ts";

export interface CallListParts {
  device: DeviceId;
  flights: Flights;
  ledger: Ledger;
}

/** One page, the newest first. */
export function listCalls(
  { device, flights, ledger }: CallListParts,
  { scope }: Lease,
  query: CallQuery,
): CallList {
  const grant = scope.owner ? undefined : (scope.id as GrantId);
  const { state, before, limit } = query;
  const mayBe = (flight: Flight) =>
    !flight.ledgered &&
    (grant === undefined || flight.grant === grant) &&
    (before === undefined || flight.call < before);
  // A call with a row is fetched from the journal.
  const reads = (state ?? "accepted") === "accepted" ? flights.all().filter(mayBe) : [];
  const underWay = reads
    .filter(({ call }) => !ledger.find(call))
    .map((flight) => listedFlight(flight, device));
  const recorded = ledger.list(grant, { ...query, limit: limit + 1 }).map((row) => listedCall(row, device));
  const all = [...underWay, ...recorded].sort((a, b) => (a.call < b.call ? 1 : -1));
  const calls = all.slice(0, limit);
  return { device, calls, next: all.length > limit ? (calls.at(-1)?.call ?? null) : null };
}

function listedFlight({ call, tool, created, deadline }: Flight, device: DeviceId): ListedCall {
  return {
    ...{ call, device, tool, state: "accepted", finished: null, status: null, code: null, outcome_in: null },
    created: new Date(created).toISOString(),
    deadline: new Date(deadline).toISOString(),
  };
}
