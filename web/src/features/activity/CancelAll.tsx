/** Ends every call of everybody on all machines, after a question. */
import { IconPlayerStop } from "@tabler/icons-react";
import { api } from "../../relay/api.ts";
import { ActionButton } from "../../ui/ActionButton.tsx";
import { plural } from "../../ui/format.ts";
import { say } from "../../ui/notices.ts";

export function CancelAll({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <ActionButton
      variant="default"
      leftSection={<IconPlayerStop size={16} aria-hidden />}
      work={cancelEveryCall}
      ask={{
        text: "Cancel every call that runs or waits, of all callers on all machines?",
        yes: "Cancel all calls",
        no: "Let them run",
      }}
    >
      Cancel all ({count})
    </ActionButton>
  );
}

async function cancelEveryCall(): Promise<void> {
  const { cancelled, unreachable } = await api("POST /v1/calls/cancel", { body: {} });
  const missed =
    unreachable.length > 0 ? ` ${plural(unreachable.length, "machine")} could not be asked.` : "";
  say(`${plural(cancelled, "call was", "calls were")} asked to stop.${missed}`);
}
