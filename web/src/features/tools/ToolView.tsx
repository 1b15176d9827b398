/** One tool: what it does, its form, and how its call goes. */
import { Alert } from "@mantine/core";
import type { Tool } from "../../data/tools.ts";
import { LongText } from "../../ui/LongText.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { useReplaced } from "./drafts.ts";
import { RunPanel } from "./RunPanel.tsx";
import { isRunning } from "./run.ts";
import { shownRun, useRuns } from "./runs.ts";
import { ToolForm } from "./ToolForm.tsx";
import classes from "./ToolView.module.css";
import { ToolWords } from "./ToolWords.tsx";

interface Props {
  readonly device: string;
  readonly tool: Tool;
  /** All that the machine has: their descriptions name each other. */
  readonly all: readonly Tool[];
}

/** Characters of a description that are not folded. */
const SHOWN = 260;

export function ToolView({ device, tool, all }: Props) {
  const { name, title, description, details, unavailable } = tool;
  const replaced = useReplaced(({ count }) => count);
  const run = useRuns((state) => shownRun(state, device, name));
  return (
    <>
      <Panel>
        {title !== undefined && <code className={classes.name}>{name}</code>}
        <div className={classes.about}>
          <LongText text={[description, details].filter(Boolean).join(" ")} most={SHOWN}>
            {(text) => <ToolWords text={text} device={device} tools={all} />}
          </LongText>
        </div>
        {unavailable !== undefined && (
          <Alert color="yellow" variant="outline" mb="md" title="It can't work there now">
            <LongText text={unavailable} />
          </Alert>
        )}
        <ToolForm
          key={replaced}
          device={device}
          tool={tool}
          isRunning={run !== undefined && isRunning(run)}
        />
      </Panel>
      {run && <RunPanel key={run.id} run={run} tool={tool} tools={all} />}
    </>
  );
}
