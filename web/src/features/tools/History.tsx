/** The calls that were made in this tab, of one tool or of all of a machine. */
import { Button, SegmentedControl, Text } from "@mantine/core";
import { useState } from "react";
import { useShallow } from "zustand/react/shallow";
import type { Tool } from "../../data/tools.ts";
import { Panel } from "../../ui/Panel.tsx";
import classes from "./History.module.css";
import { HistoryItem } from "./HistoryItem.tsx";
import { clearRuns, useRuns } from "./runs.ts";

interface Props {
  readonly device: string;
  /** The one that is looked at. */
  readonly tool: Tool | undefined;
  readonly tools: readonly Tool[];
}

/** Calls that are shown at first. */
const FEW = 5;

export function History({ device, tool, tools }: Props) {
  const [isAll, setAll] = useState(false);
  const [isLong, setLong] = useState(false);
  const all = useRuns(useShallow(({ runs }) => runs.filter((run) => run.device === device)));
  const ofTool = tool === undefined || isAll ? all : all.filter((run) => run.tool === tool.name);
  if (all.length === 0) return null;
  return (
    <Panel
      title="Calls made here"
      actions={
        <>
          {tool !== undefined && (
            <SegmentedControl
              size="xs"
              aria-label="Which calls"
              value={isAll ? "all" : "one"}
              onChange={(value) => setAll(value === "all")}
              data={[
                { value: "one", label: "This tool" },
                { value: "all", label: "All tools" },
              ]}
            />
          )}
          <Button size="xs" variant="subtle" color="gray" onClick={() => clearRuns(device)}>
            Clear
          </Button>
        </>
      }
      about="In this tab only, with what you typed: they are gone when it is closed."
    >
      {ofTool.length === 0 && <Text c="dimmed">None of this tool yet.</Text>}
      <ul className={classes.list}>
        {ofTool.slice(0, isLong ? ofTool.length : FEW).map((run) => (
          <HistoryItem key={run.id} run={run} tool={tools.find(({ name }) => name === run.tool)} />
        ))}
      </ul>
      {ofTool.length > FEW && (
        <Button size="xs" variant="default" mt="xs" onClick={() => setLong(!isLong)}>
          {isLong ? "Show fewer" : `Show all ${ofTool.length}`}
        </Button>
      )}
    </Panel>
  );
}
