/** One machine's line: how its call stands, what it said, ways to stop it or to run it again, and all of its answer. */
import { Button, Group, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useRef } from "react";
import { useDevice } from "../../data/devices.ts";
import { ActionButton } from "../../ui/ActionButton.tsx";
import { confirmed } from "../../ui/confirm.ts";
import { isOnline } from "../../ui/device-words.ts";
import { Fold } from "../../ui/Fold.tsx";
import { countdown } from "../../ui/format.ts";
import { LiveOutputView } from "../../ui/output/LiveOutputView.tsx";
import { Status } from "../../ui/Status.tsx";
import { useNow } from "../../ui/use-now.ts";
import { visibleLine } from "../../ui/visible-text.ts";
import { ProgressView } from "../tools/ProgressView.tsx";
import { RunEnd } from "../tools/RunEnd.tsx";
import { isRunning, type Run } from "../tools/run.ts";
import { liveOf } from "../tools/running.ts";
import { type Batch, isUnderWay, type PartRun } from "./batch.ts";
import { runAgain, stopPart } from "./batches.ts";
import classes from "./Many.module.css";
import { againQuestion } from "./question.ts";
import { saidOf } from "./said.ts";
import { standOf } from "./stand.ts";

export function PartItem({ batch, each }: { batch: Batch; each: PartRun }) {
  const { part, run } = each;
  const { tone, text } = standOf(each);
  const machine = visibleLine(part.machine);
  const said = saidOf(each);
  const item = useRef<HTMLLIElement>(null);
  // The focus must not get lost with a button that goes away.
  const hold = () => item.current?.focus({ preventScroll: true });
  return (
    <li ref={item} className={classes.part} aria-label={machine} tabIndex={-1}>
      <div className={classes.line}>
        <bdi className={classes.name}>{machine}</bdi>
        <Status tone={tone}>{text}</Status>
        {run && isRunning(run) && <Elapsed since={run.began} />}
        <span className={classes.actions}>
          <PartActions batch={batch} each={each} machine={machine} hold={hold} />
        </span>
      </div>
      {said && <bdi className={said.isOutput ? classes.output : classes.said}>{said.text}</bdi>}
      {run && isRunning(run) && <Running run={run} machine={machine} />}
      {run && !isRunning(run) && (
        <Fold title={`Answer of ${machine}`}>
          {() => (
            <>
              <RunEnd run={run} />
              {run.call !== undefined && run.effect !== "read" && (
                <Link to="/d/$device/calls/$call" params={{ device: run.device, call: run.call }}>
                  Its record
                </Link>
              )}
            </>
          )}
        </Fold>
      )}
    </li>
  );
}

function Elapsed({ since }: { since: number }) {
  const now = useNow();
  return (
    <Text span size="sm" c="dimmed" role="timer" className={classes.elapsed}>
      {countdown(now - since)}
    </Text>
  );
}

function Running({ run, machine }: { run: Run; machine: string }) {
  const view = useDevice(run.device);
  const live = liveOf(run);
  return (
    <>
      {view && !isOnline(view) && (
        <span className={classes.said}>
          It is offline now. If it is back in time, its answer comes all the same.
        </span>
      )}
      {run.state === "asked" && (
        <Link to="/activity" search={{ show: "needs-you" }}>
          Decide in Activity
        </Link>
      )}
      {run.progress && <ProgressView {...run.progress} />}
      {live && <Fold title={`Output of ${machine} so far`}>{() => <LiveOutputView live={live} />}</Fold>}
    </>
  );
}

interface ActionsProps {
  readonly batch: Batch;
  readonly each: PartRun;
  readonly machine: string;
  readonly hold: () => void;
}

function PartActions({ batch, each, machine, hold }: ActionsProps) {
  const { tool } = batch;
  const { device } = each.part;
  const again = async () => {
    const question = againQuestion(tool, [each]);
    if (question && !(await confirmed(question))) return;
    hold();
    runAgain(batch.id, [device]);
  };
  const stop = () => {
    hold();
    return stopPart(batch, device);
  };
  return (
    <Group gap={6}>
      {isUnderWay(each) ? (
        <ActionButton
          color="red"
          variant="outline"
          size="xs"
          aria-label={`Stop ${visibleLine(tool)} on ${machine}`}
          work={stop}
        >
          Stop
        </ActionButton>
      ) : (
        <Button
          size="xs"
          variant="default"
          aria-label={`Run again: ${visibleLine(tool)} on ${machine}`}
          onClick={() => void again()}
        >
          Run again
        </Button>
      )}
    </Group>
  );
}
