/** Decisions of this page: those on their way, and those that counted. */
import type { ApprovalView, Decision } from "@matrx/shared/approval.ts";
import { useEffect } from "react";
import { create } from "zustand";
import { queryClient, useQuery } from "../../data/query.ts";
import { api } from "../../relay/api.ts";
import { readApproval, takeApproval } from "../../relay/live.ts";

interface Decisions {
  /** On their way: what became of the call is in the answer, not in news of it. */
  readonly sending: ReadonlySet<string>;
  readonly mine: ReadonlySet<string>;
}

export const useDecisions = create<Decisions>(() => ({ sending: new Set(), mine: new Set() }));

type Named = Pick<ApprovalView, "device" | "id">;

function keyOf({ device, id }: Named) {
  return ["approval", device, id];
}

/** An approval with its question, kept up to date with its news. */
export function useApprovalDetail(approval: ApprovalView) {
  const query = useQuery({
    queryKey: keyOf(approval),
    queryFn: async () => {
      const detail = await readApproval(approval);
      takeApproval(detail);
      return detail;
    },
  });
  const { data, refetch } = query;
  const isOld = data !== undefined && differs(approval, data);
  useEffect(() => {
    if (isOld) void refetch();
  }, [isOld, refetch]);
  return query;
}

/** Sends a decision; news of the call counts again afterwards. Throws ApiError. */
export async function decide(approval: ApprovalView, decision: Decision): Promise<void> {
  const { device, id } = approval;
  useDecisions.setState(({ sending }) => ({ sending: new Set(sending).add(id) }));
  try {
    const path = { device, approval: id };
    const detail = await api("POST /v1/devices/{device}/approvals/{approval}", { path, body: decision });
    queryClient.setQueryData(keyOf(approval), detail);
    useDecisions.setState(({ mine }) => ({ mine: new Set(mine).add(id) }));
    takeApproval(detail);
  } catch (error) {
    await queryClient.refetchQueries({ queryKey: keyOf(approval) });
    throw error;
  } finally {
    useDecisions.setState(({ sending }) => ({ sending: new Set([...sending].filter((one) => one !== id)) }));
  }
}

function differs(one: ApprovalView, other: ApprovalView): boolean {
  return (
    one.state === "pending" &&
    other.state === "pending" &&
    (one.summary !== other.summary || one.expires !== other.expires || one.edited !== other.edited)
  );
}
