/** The way back to a tool that runs, or ran, on several machines. */
import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useShallow } from "zustand/react/shallow";
import { plural } from "../../ui/format.ts";
import { useRuns } from "../tools/runs.ts";
import { isUnderWay, withRuns } from "./batch.ts";
import { useBatches } from "./batches.ts";
import { endingOf, summaryOf } from "./stand.ts";

export function LastBatch() {
  const batch = useBatches(({ batches }) => batches[0]);
  const said = useRuns(
    useShallow(({ runs }) => {
      const all = batch ? withRuns(batch, runs) : [];
      return { isOver: !all.some(isUnderWay), summary: summaryOf(all.map(endingOf)) };
    }),
  );
  if (!batch) return null;
  const { tool, parts } = batch;
  const machines = parts.map(({ device }) => device).join(",");
  return (
    <Text size="sm">
      <Link to="/fleet/run/$tool" params={{ tool }} search={{ machines }}>
        {tool} {said.isOver ? "ran" : "runs"} on {plural(parts.length, "machine")}
      </Link>
      {said.summary && `: ${said.summary}`}
    </Text>
  );
}
