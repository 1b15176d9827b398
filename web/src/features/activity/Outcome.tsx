/** The answer of a call, as it is kept. */
import { Stack } from "@mantine/core";
import type { CallAnswer } from "../../relay/call-events.ts";
import { firstLineOf } from "../../ui/first-line.ts";
import { Panel } from "../../ui/Panel.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { ResultView } from "../../ui/result/ResultView.tsx";
import { Status } from "../../ui/Status.tsx";

export function Outcome({ tool, answer }: { readonly tool: string; readonly answer: CallAnswer }) {
  const { type, output, metadata = {}, hint, code, hop } = answer;
  const { exit_code: exit } = metadata;
  if (type === "success")
    return (
      <Panel title="Answer">
        <Stack gap="sm">
          {typeof exit === "number" && exit !== 0 && (
            <div>
              <Status tone="bad">Exit code {exit}</Status>
            </div>
          )}
          <ResultView result={answer} tool={tool} fileName="answer" />
        </Stack>
      </Panel>
    );
  // Of a long message the first line; the rest is output.
  const { first, rest } = firstLineOf(output);
  const hasMore = rest !== "" || Object.keys(metadata).length > 0;
  return (
    <Panel title="What went wrong">
      <Stack gap="sm">
        <Problem error={Object.assign(new Error(first), { hint, code, hop })} />
        {hasMore && <ResultView result={{ ...answer, output: rest }} fileName="answer" />}
      </Stack>
    </Panel>
  );
}
