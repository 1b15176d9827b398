/** Calls that are over, the newest first; older ones are read from the record. */
import { Button, Group, Text } from "@mantine/core";
import { useState } from "react";
import box from "../../ui/Checkbox.module.css";
import { plural } from "../../ui/format.ts";
import { Problem } from "../../ui/Problem.tsx";
import { type EndedCall, isLook } from "./calls.ts";
import { EndedCallItem } from "./EndedCall.tsx";
import classes from "./Feed.module.css";
import { useMachineName } from "./names.ts";
import type { useRecordedCalls } from "./use-record.ts";

interface Props {
  readonly calls: readonly EndedCall[];
  /** Only those that failed. */
  readonly isErrors: boolean;
  readonly record: ReturnType<typeof useRecordedCalls>;
}

export function EndedCalls({ calls, isErrors, record }: Props) {
  const { error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage, isPending } = record;
  const machineName = useMachineName();
  const [isEach, setEach] = useState(false);
  const looks = calls.filter(isLook).length;
  const shown = isEach ? calls : calls.filter((call) => !isLook(call));
  const title = isErrors ? "Errors" : "Latest calls";
  return (
    <section className={classes.part} aria-label={title}>
      <h2 className={classes.title}>{title}</h2>
      {error && <Problem error={error} retry={() => void refetch()} />}
      {calls.length === 0 && !isPending && !error && (
        <Text size="sm">
          {isErrors
            ? "No call failed, as far as is shown here."
            : "No tool was called yet. Calls appear here as they happen."}
        </Text>
      )}
      {looks > 0 && (
        <label className={classes.looks}>
          <input
            type="checkbox"
            className={box.checkbox}
            checked={isEach}
            onChange={({ currentTarget: { checked } }) => setEach(checked)}
          />
          Show {plural(looks, "look", "looks")} of the app’s own pages at folders and at how loaded a machine
          is, too
        </label>
      )}
      <ul className={classes.list} aria-label={title}>
        {shown.map((call) => (
          <EndedCallItem key={call.call} call={call} machine={machineName(call.device)} />
        ))}
      </ul>
      {hasNextPage && (
        <Group>
          <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show older calls
          </Button>
        </Group>
      )}
    </section>
  );
}
