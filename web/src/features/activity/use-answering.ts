/** Answers a question, and keeps what stood in the way beside it: what was typed stays. */
import type { ApprovalView, Decision } from "@matrx/shared/approval.ts";
import { useState } from "react";
import { queryClient } from "../../data/query.ts";
import { ApiError } from "../../relay/api-error.ts";
import { useLive } from "../../relay/live.ts";
import { say, sayProblem } from "../../ui/notices.ts";
import { type Asker, TOKENS_KEY } from "./askers.ts";
import { decide } from "./decisions.ts";

export function useAnswering(approval: ApprovalView, { name }: Asker) {
  const [problem, setProblem] = useState<unknown>();
  const [isAskedByPolicy, setAskedByPolicy] = useState(false);

  async function answer(decision: Decision): Promise<void> {
    setProblem(undefined);
    try {
      await decide(approval, decision);
      if (decision.for !== "always") return;
      say(`The token “${name}” was edited: it is no longer asked about ${approval.tool}.`);
      await queryClient.invalidateQueries({ queryKey: TOKENS_KEY });
    } catch (error) {
      const waits = useLive.getState().approvals.get(approval.id)?.state === "pending";
      if (!waits) return sayProblem(error);
      if (decision.for === "always" && error instanceof ApiError && error.code === "CONFLICT")
        setAskedByPolicy(true);
      setProblem(error);
    }
  }

  return { answer, problem, fail: setProblem, isAskedByPolicy };
}
