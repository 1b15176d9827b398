/** The answer of a call, as it is kept. */
import type { CallAnswer } from "../../relay/call-events.ts";
import { Panel } from "../../ui/Panel.tsx";
import { ResultView } from "../../ui/ResultView.tsx";

export function Outcome({ answer }: { answer: CallAnswer }) {
  return (
    <Panel title={answer.type === "error" ? "What went wrong" : "Answer"}>
      <ResultView answer={answer} />
    </Panel>
  );
}
