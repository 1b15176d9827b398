/** One call that waits: who asks, exactly what would run, until when, and what a person may answer. */

import { Alert, Button, Text } from "@mantine/core";
import type { ApprovalDetail, ApprovalView } from "@matrx/shared/approval.ts";
import { IconShieldQuestion } from "@tabler/icons-react";
import { useId, useLayoutEffect, useState } from "react";
import { effectWords } from "../../ui/effect-words.ts";
import { troubleOf } from "../../ui/Problem.tsx";
import { Status } from "../../ui/Status.tsx";
import { shortLine } from "../../ui/visible-text.ts";
import { Waiting } from "../../ui/Waiting.tsx";
import classes from "./ApprovalCard.module.css";
import { type Asker, useAsker } from "./askers.ts";
import { DecisionForm } from "./DecisionForm.tsx";
import { useApprovalDetail, useDecisions } from "./decisions.ts";
import { useGuarded } from "./guard.ts";
import { QuestionView } from "./QuestionView.tsx";
import { TimeLeft } from "./TimeLeft.tsx";
import { useAnswering } from "./use-answering.ts";

export function ApprovalCard({ approval }: { approval: ApprovalView }) {
  const heading = useId();
  const asker = useAsker(approval);
  const { data: detail, error, refetch } = useApprovalDetail(approval);
  const look = () => void refetch();
  return (
    <li className={classes.card} aria-labelledby={heading}>
      <div className={classes.head}>
        <IconShieldQuestion size={20} aria-hidden className={classes.icon} />
        <h3 id={heading}>
          {asker ? (
            <>
              <bdi>{asker.name}</bdi> asks to use <bdi>{shortLine(approval.tool)}</bdi> on{" "}
              <bdi>{asker.machine}</bdi>
            </>
          ) : (
            "A call waits"
          )}
        </h3>
        <Status tone={effectWords(approval.effect).tone}>{effectWords(approval.effect).text}</Status>
      </div>
      <TimeLeft expires={approval.expires} look={look} />
      {detail && asker ? (
        <Asked detail={detail} asker={asker} heading={heading} />
      ) : error ? (
        <CannotShow error={error} retry={look} />
      ) : (
        <Waiting />
      )}
    </li>
  );
}

function Asked({ detail, asker, heading }: { detail: ApprovalDetail; asker: Asker; heading: string }) {
  const version = useVersion(detail);
  const isSending = useDecisions(({ sending }) => sending.has(detail.id));
  const { answer, problem, fail, isAskedByPolicy } = useAnswering(detail, asker);
  const { rearm } = useGuarded().guard;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another question is new under the finger
  useLayoutEffect(() => {
    rearm();
    return rearm;
  }, [rearm, version, isAskedByPolicy]);
  const { question } = detail;
  return (
    <>
      <div role="status">
        {version > 0 && (
          <Alert color="yellow" variant="outline" title="The question has changed. Read it again." />
        )}
      </div>
      <QuestionView
        question={question}
        from={[
          ["Asked by", `${asker.name} (${asker.kind})`],
          ["Its token", asker.rights],
        ]}
      />
      {detail.at === "machine" ? (
        <Text size="sm">
          Only somebody at that machine can decide on this. Run there: <code>matrx approvals --here</code>
        </Text>
      ) : (
        <DecisionForm
          key={version}
          approval={detail.id}
          question={question}
          liftsFor={asker.hasRules && !isAskedByPolicy ? asker.name : undefined}
          heading={heading}
          isSending={isSending}
          problem={problem}
          decide={(decision) => void answer(decision)}
          fail={fail}
        />
      )}
    </>
  );
}

/** Counts the questions that were shown: a decision covers exactly one. */
function useVersion({ binding, question }: ApprovalDetail): number {
  const [shown, setShown] = useState({ binding, question, version: 0 });
  // Equal answers of the relay are the same object.
  if (shown.binding === binding && shown.question === question) return shown.version;
  setShown({ binding, question, version: shown.version + 1 });
  return shown.version + 1;
}

function CannotShow({ error, retry }: { error: unknown; retry: () => void }) {
  const { message, hint } = troubleOf(error);
  return (
    <Alert color="red" variant="outline" role="alert" title={`What it would do can’t be shown: ${message}`}>
      {hint && <Text size="sm">{hint}</Text>}
      <Button size="xs" mt="xs" variant="default" onClick={retry}>
        Try again
      </Button>
    </Alert>
  );
}
