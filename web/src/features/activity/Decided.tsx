/** What became of the last calls that waited here: the newest first. */

import { VisuallyHidden } from "@mantine/core";
import type { ApprovalView } from "@matrx/shared/approval.ts";
import { IconCheck, IconClock, IconX } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { clockTime } from "../../ui/format.ts";
import { visibleLine } from "../../ui/visible-text.ts";
import classes from "./Decided.module.css";
import { useApprovalDetail, useDecisions } from "./decisions.ts";
import { afterwards, outcomeOf } from "./outcome-of.ts";
import { QuestionView } from "./QuestionView.tsx";

const KEPT = 5;

export function Decided({ approvals }: { approvals: readonly ApprovalView[] }) {
  const latest = [...approvals].sort((one, other) => (endOf(one) < endOf(other) ? 1 : -1)).slice(0, KEPT);
  const said = useNews(approvals);
  return (
    <>
      <VisuallyHidden role="status">{said}</VisuallyHidden>
      {latest.length > 0 && (
        <div className={classes.decided}>
          <h3>Decided recently</h3>
          <ul aria-label="Decided recently">
            {latest.map((approval) => (
              <DecidedItem key={approval.id} approval={approval} />
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

function DecidedItem({ approval }: { approval: ApprovalView }) {
  const isMine = useDecisions(({ mine }) => mine.has(approval.id));
  const { state, summary, edited, tool } = approval;
  const Icon = state === "allowed" ? IconCheck : state === "denied" ? IconX : IconClock;
  const end = endOf(approval);
  const more = afterwards(approval, tool);
  return (
    <li data-state={state}>
      <Icon size={18} aria-hidden />
      <div className={classes.words}>
        <p>
          <strong>
            <bdi>{outcomeOf(approval, isMine)}</bdi>
          </strong>
          <time dateTime={end}>{clockTime(end)}</time>
        </p>
        <p>
          <bdi>{visibleLine(summary)}</bdi>
        </p>
        {isMine && more && <p className={classes.soft}>{more}</p>}
        {edited && <Changes approval={approval} />}
      </div>
    </li>
  );
}

/** What runs instead of what was asked. */
function Changes({ approval }: { approval: ApprovalView }) {
  const { data } = useApprovalDetail(approval);
  if (!data?.edited) return null;
  return (
    <details open>
      <summary>What runs</summary>
      <QuestionView question={data.question} />
    </details>
  );
}

/** What came last, for those who listen. What was over before this page was opened is no news. */
function useNews(approvals: readonly ApprovalView[]): string {
  const mine = useDecisions((decisions) => decisions.mine);
  const [said, setSaid] = useState("");
  const known = useRef(new Set(approvals.map(({ id }) => id)));
  useEffect(() => {
    for (const approval of approvals) {
      if (known.current.has(approval.id)) continue;
      known.current.add(approval.id);
      setSaid(`${outcomeOf(approval, mine.has(approval.id))}: ${visibleLine(approval.summary)}`);
    }
  }, [approvals, mine]);
  return said;
}

function endOf({ decided, expires }: ApprovalView): string {
  return decided ?? expires;
}
