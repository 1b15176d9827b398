/** A call of the history: how it ended, with what input, and ways to see it, run it again, or change it first. */
import { Button, Group } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { Tool } from "../../data/tools.ts";
import { useObstacle } from "../../machine/use-obstacle.ts";
import { ago } from "../../ui/format.ts";
import { Status } from "../../ui/Status.tsx";
import { draftOf } from "../../ui/schema/draft.ts";
import { fieldsOf } from "../../ui/schema/fields.ts";
import { visibleLine } from "../../ui/visible-text.ts";
import { replaceDraft } from "./drafts.ts";
import classes from "./History.module.css";
import { inputLine } from "./input-words.ts";
import type { Outcome } from "./outcome.ts";
import type { Run } from "./run.ts";
import { startRun } from "./running.ts";
import { showRun } from "./runs.ts";

export function HistoryItem({ run, tool }: { run: Run; tool: Tool | undefined }) {
  const { device, input, began } = run;
  const navigate = useNavigate();
  const canRun = useObstacle(device) === undefined;
  const { tone, text } = standOf(run);
  const line = inputLine(input);
  const named = `${run.tool}${line && ` ${line.slice(0, 40)}`}`;
  const goThere = () => void navigate({ to: "/d/$device/tools/$tool", params: { device, tool: run.tool } });
  const show = () => {
    showRun(run);
    goThere();
  };
  const runAgain = (known: Tool) => {
    startRun(device, known, input);
    goThere();
  };
  const edit = (known: Tool) => {
    const fields = fieldsOf(known.input_schema);
    replaceDraft(device, known.name, draftOf(fields, input), fields);
    goThere();
    scrollTo({ top: 0 });
  };
  return (
    <li className={classes.item}>
      <div className={classes.words}>
        <div className={classes.head}>
          <Status tone={tone}>{text}</Status>
          <span className={classes.name}>{visibleLine(run.tool)}</span>
          <span className={classes.time}>{ago(began)}</span>
        </div>
        {line && <bdi className={classes.input}>{line}</bdi>}
      </div>
      <Group gap={6} className={classes.actions ?? ""}>
        <Button size="xs" variant="default" aria-label={`Show ${named}`} onClick={show}>
          Show
        </Button>
        {tool && (
          <>
            <Button
              size="xs"
              variant="default"
              aria-label={`Run again: ${named}`}
              disabled={!canRun}
              onClick={() => runAgain(tool)}
            >
              Run again
            </Button>
            <Button size="xs" variant="default" aria-label={`Edit ${named}`} onClick={() => edit(tool)}>
              Edit
            </Button>
          </>
        )}
      </Group>
    </li>
  );
}

function standOf({ state, outcome }: Run): Outcome {
  if (outcome) return outcome;
  if (state === "left") return { tone: "warn", text: "Not known" };
  return state === "asked" ? { tone: "warn", text: "Waits for approval" } : { tone: "info", text: "Running" };
}
