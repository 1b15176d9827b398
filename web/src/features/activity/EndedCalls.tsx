/** Calls that are over, the newest first; older ones are read from the record. */
import { Button, Group, Text } from "@mantine/core";
import { Problem } from "../../ui/Problem.tsx";
import type { EndedCall } from "./calls.ts";
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
      <ul className={classes.list} aria-label={title}>
        {calls.map((call) => (
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
