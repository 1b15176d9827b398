/** How a tool goes on several machines: a line for each, and what can be done with all of them. */
import { Group, Text } from "@mantine/core";
import { type RefObject, useEffect, useMemo, useRef } from "react";
import { useShallow } from "zustand/react/shallow";
import { Fold } from "../../ui/Fold.tsx";
import { clockTime, plural } from "../../ui/format.ts";
import { Panel } from "../../ui/Panel.tsx";
import { JsonView } from "../../ui/result/JsonView.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { useRuns } from "../tools/runs.ts";
import { BatchActions } from "./BatchActions.tsx";
import { type Batch, isUnderWay, type PartRun, withRuns } from "./batch.ts";
import classes from "./Many.module.css";
import { PartItem } from "./PartItem.tsx";
import { endingOf, summaryOf } from "./stand.ts";

/** A batch that began this short a time ago was begun here, in milliseconds. */
const FRESH = 2_000;

export function BatchPanel({ batch }: { batch: Batch }) {
  const { tool, input, began } = batch;
  const all = useParts(batch);
  const isOver = !all.some(isUnderWay);
  const place = useRef<HTMLDivElement>(null);
  const said = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (Date.now() - began > FRESH) return;
    place.current?.scrollIntoView({ block: "nearest" });
    // The button that began it is disabled, and has lost the focus or is about to.
    if (document.activeElement?.matches("body, :disabled")) said.current?.focus({ preventScroll: true });
  }, [began]);
  return (
    <div ref={place}>
      <Panel
        title={`${visibleLine(tool)} on ${plural(all.length, "machine")}`}
        about={`Begun at ${clockTime(began)}`}
        actions={<BatchActions batch={batch} all={all} isOver={isOver} said={said} />}
      >
        <Progress all={all} isOver={isOver} said={said} />
        <ul className={classes.list}>
          {all.map((each) => (
            <PartItem key={each.part.device} batch={batch} each={each} />
          ))}
        </ul>
        {Object.keys(input).length > 0 && (
          <Fold title="Its input">{() => <JsonView value={input} label="Its input" />}</Fold>
        )}
      </Panel>
    </div>
  );
}

function useParts(batch: Batch): readonly PartRun[] {
  const runs = useRuns(
    useShallow((state) => state.runs.filter(({ id }) => batch.parts.some(({ run }) => run === id))),
  );
  return useMemo(() => withRuns(batch, runs), [batch, runs]);
}

interface ProgressProps {
  readonly all: readonly PartRun[];
  readonly isOver: boolean;
  readonly said: RefObject<HTMLParagraphElement | null>;
}

/** The status is read out when all have begun and when all have ended, and not each time that one does. */
function Progress({ all, isOver, said }: ProgressProps) {
  const endings = all.map(endingOf);
  const ended = endings.filter((ending) => ending !== undefined).length;
  const waiting = all.filter(({ part }) => part.state === "waiting").length;
  const readOnly = all.every(({ part }) => part.effect === "read");
  return (
    <Group gap="xs" mb="xs">
      <Text size="sm" fw={600} role="status" ref={said} tabIndex={-1}>
        {isOver ? summaryOf(endings) : "It keeps running while you look at other pages."}
      </Text>
      {!isOver && (
        <Text size="sm" c="dimmed">
          {[
            `${ended} of ${all.length} ended`,
            waiting > 0 ? `${plural(waiting, "machine waits", "machines wait")} for a turn` : "",
          ]
            .filter(Boolean)
            .join(", ")}
          .{" "}
          {readOnly
            ? "If you close the tab, it stops."
            : "If you close the tab, what runs goes on, and no other machine begins."}
        </Text>
      )}
    </Group>
  );
}
