/** How far work on several entries is, and of which of them it failed. */
import { Button } from "@mantine/core";
import { plural } from "../../ui/format.ts";
import { troubleOf } from "../../ui/Problem.tsx";
import { shortLine, visibleLine } from "../../ui/visible-text.ts";
import classes from "./BatchPanel.module.css";
import { type Batch, forgetBatch, stopBatch, untried, useBatches } from "./batch.ts";

export function BatchPanel({ device }: { device: string }) {
  const batches = useBatches((state) => state.batches);
  // One entry is over too soon to be followed.
  const shown = batches.filter((batch) => batch.device === device && batch.total > 1);
  if (shown.length === 0) return null;
  return (
    <section className={classes.panel} aria-label="Several entries">
      {shown.map((batch) => (
        <Shown key={batch.id} batch={batch} />
      ))}
    </section>
  );
}

function Shown({ batch }: { batch: Batch }) {
  const { id, failures, isOver, isStopped } = batch;
  return (
    <>
      <div className={classes.head}>
        <span className={classes.words} role="status">
          {wordsOf(batch)}
        </span>
        {isOver ? (
          <Button size="xs" variant="default" onClick={() => forgetBatch(id)}>
            Close
          </Button>
        ) : (
          <Button size="xs" variant="default" disabled={isStopped} onClick={() => stopBatch(id)}>
            Stop
          </Button>
        )}
      </div>
      {failures.length > 0 && (
        <ul className={classes.failures}>
          {failures.map(({ name, error }) => {
            const { message, hint } = troubleOf(error);
            return (
              <li key={name}>
                <bdi>{visibleLine(name)}</bdi>: <bdi>{shortLine(message)}</bdi>{" "}
                {hint && <bdi>{shortLine(hint)}</bdi>}
              </li>
            );
          })}
        </ul>
      )}
    </>
  );
}

function wordsOf(batch: Batch): string {
  const { doing, done, total, succeeded, failures, isOver } = batch;
  const all = plural(total, "entry", "entries");
  if (!isOver) return `${doing}: ${succeeded + failures.length} of ${all}`;
  const left = untried(batch);
  const parts = [
    `${succeeded} of ${all} ${succeeded === 1 ? "was" : "were"} ${done}`,
    failures.length > 0 && `${failures.length} failed`,
    left > 0 && `${left} ${left === 1 ? "was" : "were"} not tried`,
  ];
  return `${parts.filter((part) => part !== false).join(", ")}.`;
}
