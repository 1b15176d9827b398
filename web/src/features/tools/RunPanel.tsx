/** A call that was made here: that it runs and since when, its output as it comes, a way to stop it, and its end. */
import { Button, Group, Stack } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useRef } from "react";
import type { Tool } from "../../data/tools.ts";
import { useObstacle } from "../../machine/use-obstacle.ts";
import { Fold } from "../../ui/Fold.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { JsonView } from "../../ui/result/JsonView.tsx";
import { BackgroundJob } from "./BackgroundJob.tsx";
import { RunEnd } from "./RunEnd.tsx";
import { RunningView } from "./RunningView.tsx";
import { isRunning, type Run } from "./run.ts";
import { startRun } from "./running.ts";
import { useFollowed } from "./use-followed.ts";

interface Props {
  readonly run: Run;
  readonly tool: Tool;
  /** All that the machine has. */
  readonly tools: readonly Tool[];
}

export function RunPanel({ run, tool, tools }: Props) {
  const { device, call, effect, input } = run;
  const runs = isRunning(run);
  const canRun = useObstacle(device) === undefined;
  const place = useRef<HTMLDivElement>(null);
  useFollowed(place);
  return (
    <div ref={place}>
      <Panel
        title="Answer"
        actions={
          !runs && (
            <Button
              size="xs"
              variant="default"
              leftSection={<IconRefresh size={14} aria-hidden />}
              disabled={!canRun}
              onClick={() => startRun(device, tool, input)}
            >
              Run again
            </Button>
          )
        }
      >
        <Stack gap="sm">
          {runs ? <RunningView run={run} /> : <RunEnd run={run} />}
          <BackgroundJob run={run} tools={tools} />
          <Group gap="md">
            {Object.keys(input).length > 0 && (
              <Fold title="Its input">{() => <JsonView value={input} label="Its input" />}</Fold>
            )}
            {call !== undefined && effect !== "read" && (
              <Link to="/d/$device/calls/$call" params={{ device, call }}>
                Its record
              </Link>
            )}
          </Group>
        </Stack>
      </Panel>
    </div>
  );
}
