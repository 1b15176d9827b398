/** A call that was made here: that it runs and since when, its output as it comes, a way to stop it, and its end. */

import { Group, Stack, Text } from "@mantine/core";
import type { ToolDescription } from "@matrx/shared/tool.ts";
import { useEffect, useState } from "react";
import { ActionButton } from "../../ui/ActionButton.tsx";
import { duration } from "../../ui/format.ts";
import { Panel } from "../../ui/Panel.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { ResultView } from "../../ui/ResultView.tsx";
import { Status } from "../../ui/Status.tsx";
import { scrolled } from "../../ui/scrolled.ts";
import { visibleOutput } from "../../ui/terminal-text.ts";
import classes from "./ToolsPage.module.css";
import type { Run } from "./use-run.ts";

interface Props {
  readonly run: Run;
  readonly tool: ToolDescription;
  readonly device: string;
  readonly stop: () => Promise<void>;
}

export function RunView({ run, tool, device, stop }: Props) {
  const { state, words, canStop, output, progress, answer, error } = run;
  const elapsed = useElapsed(run);
  return (
    <Panel title="Answer">
      {state === "running" ? (
        <Stack gap="sm">
          <Group justify="space-between">
            <Text size="sm" role="status">
              {words}
            </Text>
            <Group gap="xs">
              <span role="timer">{duration(elapsed)}</span>
              {canStop && (
                <ActionButton
                  size="sm"
                  variant="default"
                  aria-label={`Stop ${tool.name} on ${device}`}
                  work={stop}
                >
                  Stop
                </ActionButton>
              )}
            </Group>
          </Group>
          {progress !== undefined && <Text size="sm">{progress}</Text>}
          {output && (
            <pre className={classes.output} {...scrolled("Output so far")}>
              {visibleOutput(output)}
            </pre>
          )}
        </Stack>
      ) : error !== undefined ? (
        <Problem error={error} />
      ) : (
        answer && (
          <Stack gap="sm">
            <div role="status">
              <Status tone={answer.type === "success" ? "ok" : "bad"}>
                {answer.type === "success"
                  ? `Answered in ${duration(elapsed)}`
                  : `Failed after ${duration(elapsed)}`}
              </Status>
            </div>
            <ResultView answer={answer} />
          </Stack>
        )
      )}
    </Panel>
  );
}

function useElapsed({ began, ended }: Run): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (ended !== undefined) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [ended]);
  return Math.max(0, (ended ?? now) - began);
}
