/** What the feed does not know: a lost connection, machines that could not be asked, entries that were left out. */
import { Alert } from "@mantine/core";
import { IconPlugConnectedX } from "@tabler/icons-react";
import { useConnection } from "../../relay/connection.ts";
import { useLive } from "../../relay/live.ts";
import { clockTime, plural } from "../../ui/format.ts";
import { useMachineName } from "./names.ts";

export function FeedNote() {
  const { state, since } = useConnection();
  const unknown = useLive((live) => live.unknown);
  const missed = useLive((live) => live.missed);
  const machineName = useMachineName();
  const machines = [...unknown].map(machineName).join(", ");
  return (
    <>
      <div role="status">
        {state === "reconnecting" && (
          <Alert
            mb="md"
            color="yellow"
            variant="outline"
            icon={<IconPlugConnectedX aria-hidden />}
            title="Live connection lost"
          >
            What is shown is as of {clockTime(since)} and may be over. Calls that need you are still looked
            for.
          </Alert>
        )}
      </div>
      {machines && (
        <Alert mb="md" color="yellow" variant="outline" title={`What happens on ${machines} is not known`}>
          The relay cannot read its data.
        </Alert>
      )}
      {missed > 0 && (
        <Alert
          mb="md"
          color="yellow"
          variant="outline"
          title={`${plural(missed, "entry was", "entries were")} left out`}
        >
          This page read too slowly. The record in the settings has all that changed something.
        </Alert>
      )}
    </>
  );
}
